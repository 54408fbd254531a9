import type { Tables } from '../platform/postgres/table-rules.ts'
import { moveOwners } from './link-owners.ts'

export const OWNER_TABLES = {
  // The links are deleted when an erasure is verified, because until then they find late events: see erasure/erase.ts.
  owner_links: { key: ['owner_id'], contact: moveOwners, erasedWith: 'erasures', export: { without: ['version'] } },
} satisfies Tables
