import { sql } from 'kysely'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { ErasureSubject } from '../contacts/erasure-subject.ts'
import { deleteContact } from '../contacts/write.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { EventEraser } from './erase-events.ts'
import { ERASE } from './erasures.ts'

/**
 * When the last look is taken. A flush that still took a visitor for the contact began before the deletion's commit and
 * ends within 30 seconds; its deliveries and events have arrived by then.
 */
const VERIFY_AFTER_SECONDS = 60

/** ClickHouse removes the events of all people whose erasure waits in one go: what that costs hardly depends on how many they are. */
const ERASURES_AT_ONCE = 8

/**
 * Removes what one part of the service keeps of a person, in the given transaction. It is called repeatedly, also after
 * the contact itself is deleted, and removes what is left each time.
 * @returns how many rows it removed or changed, by what they were.
 */
export type Eraser = (tx: Tenant, subject: ErasureSubject) => Promise<Record<string, number>>

/** Counts the rows of one part of the service that are deleted with a contact. */
export type Counter = (tenant: Tenant, contactId: string) => Promise<Record<string, number>>

export interface ErasureDependencies {
  erasers: readonly Eraser[]
  counters: readonly Counter[]
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  events: EventEraser
  /** Removes the jobs of a tenant that name one of some texts. */
  forgetJobs(tenantId: string, texts: readonly string[]): Promise<number>
  /** Removes files that were made of the tenant's data. */
  forgetExports(tenant: Tenant): Promise<number>
  verifyAfterSeconds?: number
}

/** Works on the erasures that are ordered. */
export async function startErasures(dependencies: ErasureDependencies): Promise<void> {
  await dependencies.jobs.work(ERASE, ERASURES_AT_ONCE, ({ tenantId, erasureId }) =>
    runErasure(openTenant(dependencies.stores, tenantId), dependencies, erasureId),
  )
}

/**
 * Erases what is left to erase; called again after a crash or a failure, it goes on. The first time through leaves a
 * receipt and orders a last look, the last look forgets what was looked for.
 */
export async function runErasure(tenant: Tenant, dependencies: ErasureDependencies, erasureId: string): Promise<void> {
  const row = await tenant.db
    .selectFrom('erasures')
    .select(['status', 'subject'])
    .where('erasure_id', '=', erasureId)
    .executeTakeFirst()
  if (!row || row.subject === null) return
  const subject = row.subject as unknown as ErasureSubject
  await eraseContact(tenant, dependencies, erasureId, subject)
  await tenant.transaction(async (tx) => {
    for (const erase of dependencies.erasers) await addCounts(tx, erasureId, await erase(tx, subject))
  })
  const now = dependencies.writing.clock()
  const refused = await dependencies.events.erase(tenant, subject, (events) => addCounts(tenant, erasureId, { events }))
  const jobs = await dependencies.forgetJobs(tenant.id, [
    subject.contactId,
    ...(subject.email === null ? [] : [subject.email]),
  ])
  const exports = await dependencies.forgetExports(tenant)
  await addCounts(tenant, erasureId, { ...refused, jobs, exports })
  if (row.status === 'running') await finishFirst(tenant, dependencies, erasureId, now)
  else await finishLast(tenant, dependencies, erasureId, subject, now)
}

/** Deletes the contact and what is deleted with its row. Webhooks are told, as of any deletion. */
async function eraseContact(
  tenant: Tenant,
  { writing, counters }: ErasureDependencies,
  erasureId: string,
  { contactId }: ErasureSubject,
): Promise<void> {
  const counts = await Promise.all(counters.map((count) => count(tenant, contactId)))
  const found: Record<string, number> = Object.assign({}, ...counts)
  if (found.contacts === 0) return
  try {
    await deleteContact(tenant, writing, contactId)
  } catch (error) {
    // Somebody deleted it a moment ago.
    if (!(error instanceof ServiceError) || error.status !== 404) throw error
  }
  await addCounts(tenant, erasureId, found)
}

async function finishFirst(
  tenant: Tenant,
  { jobs, verifyAfterSeconds = VERIFY_AFTER_SECONDS }: ErasureDependencies,
  erasureId: string,
  now: Date,
): Promise<void> {
  await tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('erasures')
      .set({ status: 'erased', erased_at: now })
      .where('erasure_id', '=', erasureId)
      .where('status', '=', 'running')
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await jobs.send(tx, ERASE, { erasureId }, { startAfter: verifyAfterSeconds })
  })
}

async function finishLast(
  tenant: Tenant,
  { events }: ErasureDependencies,
  erasureId: string,
  { contactId }: ErasureSubject,
  now: Date,
) {
  await events.forgetLinks(tenant, contactId)
  await tenant.db
    .updateTable('erasures')
    .set({ status: 'verified', verified_at: now, subject: null })
    .where('erasure_id', '=', erasureId)
    .execute()
}

/** Adds to the receipt, at once: what a crash comes after has been counted. */
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
