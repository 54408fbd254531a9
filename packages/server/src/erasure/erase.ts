import { type Kysely, sql } from 'kysely'
import { deleteContact } from '../contacts/write.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { anyVersion } from '../operations/etag.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import { countedAs } from '../platform/postgres/table-rules.ts'
import { completeRun, pauseRun, type Run } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { EventEraser } from './erase-events.ts'

/**
 * The delay until the verification. A flush that still links a visitor to the contact started before the deletion's commit and
 * ends within 30 seconds, so its deliveries and events have arrived by then.
 */
const VERIFY_AFTER_SECONDS = 60

export interface ErasureDependencies {
  writing: WriteDependencies
  events: EventEraser
  /** Deletes the tenant's jobs that contain one of some strings. */
  deleteJobs(tenantId: string, texts: readonly string[]): Promise<number>
  /** Deletes the tenant's export files. */
  deleteExportFiles(tenant: Tenant): Promise<number>
  /** Deletes the tenant's imported files. */
  deleteImportFiles(tenant: Tenant, uploadedBefore: Date): Promise<number>
}

/**
 * Erases everything that is left; after a crash or a failure, the next attempt continues. The first complete turn writes
 * the receipt, and a second one verifies it a minute later: it catches late data, then deletes the subject's identifiers.
 */
export async function erase(run: Run<'erasures'>, dependencies: ErasureDependencies): Promise<void> {
  const { tenant, runId, row } = run
  const subject = row.subject as unknown as ErasureSubject
  await eraseContact(tenant, dependencies, runId, subject)
  await tenant.transaction(async (tx) => {
    for (const { erase: eraseRows } of dependencies.writing.tables) {
      if (eraseRows) await addCounts(tx, runId, await eraseRows(tx, subject))
    }
  })
  const now = dependencies.writing.clock()
  const refused = await dependencies.events.erase(tenant, subject, (events) => addCounts(tenant, runId, { events }))
  const jobs = await dependencies.deleteJobs(tenant.id, [
    subject.contactId,
    ...(subject.email === null ? [] : [subject.email]),
  ])
  const exports = await dependencies.deleteExportFiles(tenant)
  const import_files = await dependencies.deleteImportFiles(tenant, row.requested_at)
  await addCounts(tenant, runId, { ...refused, jobs, exports, import_files })
  if (row.erased_at === null) {
    const verification = { seconds: VERIFY_AFTER_SECONDS, waitingFor: 'verification' }
    return pauseRun(run, verification, { erased_at: now, failures: 0, error: null })
  }
  await dependencies.events.deleteLinks(tenant, subject.contactId)
  await completeRun(run, { subject: null }, now)
}

/** Deletes the contact with its dependent rows. Webhooks are notified, as for every deletion. */
async function eraseContact(
  tenant: Tenant,
  { writing }: ErasureDependencies,
  erasureId: string,
  { contactId }: ErasureSubject,
): Promise<void> {
  const found = await countRowsOf(tenant, writing, contactId)
  if (found.contacts === 0) return
  try {
    await deleteContact(tenant, writing, contactId, anyVersion)
  } catch (error) {
    // Deleted concurrently.
    if (!(error instanceof ServiceError) || error.status !== 404) throw error
  }
  await addCounts(tenant, erasureId, found)
}

/** How many rows are deleted with a contact's, by their names in the receipt. */
async function countRowsOf(tenant: Tenant, { tables }: Pick<WriteDependencies, 'tables'>, contactId: string) {
  const db = tenant.db as unknown as Kysely<Record<string, { contact_id: string }>>
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const counted = countedAs(table)
    if (counted === undefined) continue
    const rows = db.selectFrom(table.name).where('contact_id', '=', contactId)
    counts[counted] = (await rows.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
  }
  return counts
}

/** Adds to the receipt at once, so that a crash does not lose counts. */
async function addCounts(tenant: Tenant, erasureId: string, counts: Record<string, number>): Promise<void> {
  for (const [what, count] of Object.entries(counts)) {
    if (count === 0) continue
    await tenant.db
      .updateTable('erasures')
      .set({
        removed: sql`removed || jsonb_build_object(${what}::text, coalesce((removed ->> ${what})::int, 0) + ${count}::int)`,
      })
      .where('erasure_id', '=', erasureId)
      .execute()
  }
}
