import type { Tables } from '../../platform/postgres/table-rules.ts'
import { eraseFromVisitors } from './erase.ts'
import { moveVisitors, unlinkVisitors } from './link.ts'

export const VISITOR_TABLES = {
  visitors: {
    key: ['visitor_id'],
    contact: moveVisitors,
    release: (tx, contactId, now) => unlinkVisitors(tx, contactId, 'manual', now),
    erasedWith: 'visitor_links',
    export: { isLarge: true },
  },
  visitor_links: { key: ['link_id'], contact: 'followed', erase: eraseFromVisitors, export: {} },
} satisfies Tables
