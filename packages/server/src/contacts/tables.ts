import type { Tables } from '../platform/postgres/table-rules.ts'
import { moveMerges } from './merging/moved-rows.ts'

export const CONTACT_TABLES = {
  // The survivor's content is written anew from both.
  contacts: {
    key: ['contact_id'],
    contact: 'dies',
    counted: 'contacts',
    company: 'cleared',
    export: { isLarge: true, without: ['facets', 'search_text', 'sort_firstname', 'sort_lastname', 'sort_company'] },
  },
  contact_counts: { key: ['counter'], export: 'none' },
  contact_sources: {
    key: ['contact_id', 'source'],
    contact: 'dies',
    counted: 'contact_sources',
    export: { isLarge: true },
  },
  contact_source_ids: { key: ['source', 'external_id'], contact: 'moves', export: {} },
  contact_source_deletions: { key: ['contact_id', 'source'], contact: 'moves', export: {} },
  // A merge stores the merged contact's copy and keys here. Those of contacts merged into it before lead to its survivor.
  contact_merges: { key: ['contact_id'], contact: moveMerges, export: { without: ['position'] } },
  contact_aliases: { key: ['kind', 'source', 'key'], contact: 'followed', export: {} },
} satisfies Tables
