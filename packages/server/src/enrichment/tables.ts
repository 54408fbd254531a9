import { CLAIM } from '../platform/postgres/lease.ts'
import type { ErasureSubject, Tables } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { UNDO_DAYS } from './runs/run-object.ts'

/** A day longer than a run can be undone, so that an undo that has begun finds everything. */
const KEPT_MS = (UNDO_DAYS + 1) * DAY_MS

export const ENRICHMENT_TABLES = {
  enrichment_settings: { key: [], export: {} },
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
