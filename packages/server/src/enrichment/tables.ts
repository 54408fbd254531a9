import { sql } from 'kysely'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { secretsPlace } from './providers/secrets.ts'

export const ENRICHMENT_TABLES = {
  enrichment_settings: { key: [], export: {} },
  enrichment_providers: {
    key: ['provider_id'],
    export: {},
    sealed: { secrets_sealed: ({ tenant_id = '', provider_id = '' }) => secretsPlace(tenant_id, provider_id) },
  },
  enrichment_usage: { key: ['provider_id'], export: {} },
  enrichment_answers: {
    key: ['contact_id', 'provider_id'],
    // What was said of one of two people is not what would have been said of the survivor, about whom providers are asked anew.
    contact: 'dies',
    export: { rowsPerPage: 50 },
    // What became of a question stays with the contact; the answer, which is personal data, does not.
    retention: async (database, now) => {
      await database
        .updateTable('enrichment_answers')
        .set({ question: null, answer: null, answered_at: null, cached_until: null })
        .where('cached_until', '<=', now)
        .where(sql<boolean>`answer IS NOT NULL`)
        .execute()
    },
  },
  // A contact that is gone is asked about no more.
  enrichment_queue: { key: ['contact_id'], contact: 'followed', hasOnlyIds: true, export: 'none' },
} satisfies Tables
