import { sql } from 'kysely'
import { CLAIM } from '../platform/postgres/lease.ts'
import type { ErasureSubject, Tables } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { secretsPlace } from './providers/secrets.ts'
import { UNDO_DAYS } from './runs/run-object.ts'

/** A day longer than a run can be undone, so that an undo that has begun finds everything. */
const KEPT_MS = (UNDO_DAYS + 1) * DAY_MS

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
  enrichment_runs: { key: ['run_id'], export: { without: CLAIM } },
  enrichment_run_changes: {
    key: ['run_id', 'contact_id'],
    contact: 'followed',
    erase: eraseFromRuns,
    export: 'none',
    retention: { column: 'changed_at', ms: KEPT_MS },
  },
  enrichment_run_companies: {
    key: ['run_id', 'company_id'],
    company: 'stays',
    export: 'none',
    retention: { column: 'created_at', ms: KEPT_MS },
  },
} satisfies Tables

/** Deletes the person's values that runs replaced. */
async function eraseFromRuns(tx: Tenant, { contactId }: ErasureSubject): Promise<Record<string, number>> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('enrichment_run_changes')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  return { enrichment_run_changes: Number(numDeletedRows) }
}
