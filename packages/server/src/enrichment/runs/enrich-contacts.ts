import { sql } from 'kysely'
import { nextContactIds } from '../../contacts/pages.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import { completeRun, type Run, updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Enriched, enrichNow, factsOf, queueForProviders } from '../on-demand.ts'
import { changeOf } from './changes.ts'
import { CONTACTS_SHOWN, type FailedContact, firstOf, type Matching } from './run-object.ts'
import { filtersOf, type MatchingServices } from './runs.ts'

/** Contacts whose ids are read at once: the filter may have to look at many others between them. */
const CONTACTS_PER_PAGE = 1_000
/** Contacts per transaction, which locks them. */
const CONTACTS_PER_WRITE = 200
/** A run works for this long before runs of other tenants get a turn. It asks for events in its filter once a turn. */
const TURN_MS = 20_000

interface Dependencies extends MatchingServices {
  writing: WriteServices
}

/**
 * Enriches the contacts of a run for a turn, in the order of their ids. Each transaction also stores what it changed and how far
 * the run has come, so that an interrupted run continues there and counts every contact once.
 */
export async function enrichContacts(
  run: Run<'enrichment_runs'>,
  { writing, ...services }: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, row } = run
  const filters = await filtersOf(tenant, row.matching as Matching, services, writing.clock())
  // Later contacts were enriched when they were created, and might never end.
  const matching = { ...filters, created_before: row.created_at }
  let lookedUpTo = row.looked_up_to
  for (const since = performance.now(); performance.now() - since < TURN_MS; ) {
    const contactIds = await nextContactIds(tenant, matching, lookedUpTo ?? undefined, CONTACTS_PER_PAGE)
    for (let from = 0; from < contactIds.length; from += CONTACTS_PER_WRITE) {
      signal.throwIfAborted()
      const batch = contactIds.slice(from, from + CONTACTS_PER_WRITE)
      await enrichNow(tenant, writing, await factsOf(tenant, batch), (tx, enriched, now) =>
        storeProgress(run, tx, batch, enriched, now),
      )
      // They are asked in the background: a slow one must not hold up the run.
      await queueForProviders(tenant, writing, batch, run.runId)
    }
    if (contactIds.length < CONTACTS_PER_PAGE) return completeRun(run, {}, writing.clock())
    lookedUpTo = contactIds.at(-1) ?? lookedUpTo
  }
}

/** Stores what became of some contacts. @throws ClaimLost if the run was cancelled; then they are as before. */
async function storeProgress(
  run: Run<'enrichment_runs'>,
  tx: Tenant,
  contactIds: readonly string[],
  { changed, refused, companiesCreated }: Enriched,
  now: Date,
): Promise<void> {
  const { runId } = run
  const changes = changed.flatMap(({ stored, row, records }) => {
    if (stored === null) return []
    const change = JSON.stringify(changeOf(stored, { row, records }))
    return [{ run_id: runId, contact_id: row.contact_id, changed: change, changed_at: now }]
  })
  const companies = companiesCreated.map((company_id) => ({ run_id: runId, company_id, created_at: now }))
  if (changes.length > 0) await tx.db.insertInto('enrichment_run_changes').values(changes).execute()
  if (companies.length > 0) await tx.db.insertInto('enrichment_run_companies').values(companies).execute()
  const errors = [...refused]
    .slice(0, CONTACTS_SHOWN)
    .map(([contact_id, { code, message }]): FailedContact => ({ contact_id, error: { code, message } }))
  await updateRun(
    run,
    {
      looked_up_to: contactIds.at(-1) ?? null,
      enriched: sql<number>`enriched + ${changes.length}`,
      failed: sql<number>`failed + ${refused.size}`,
      unchanged: sql<number>`unchanged + ${contactIds.length - changes.length - refused.size}`,
      errors: firstOf('errors', errors),
      failures: 0,
    },
    tx,
  )
}
