import { sql } from 'kysely'
import { deleteUnusedCompanies } from '../../companies/write.ts'
import { changedEvents } from '../../contacts/writing/events.ts'
import { openSet } from '../../contacts/writing/keys.ts'
import { storeSet } from '../../contacts/writing/store.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../../contacts/writing/transaction.ts'
import { completeRun, type Run, updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ContactChange, withoutChange } from './changes.ts'
import { CONTACTS_SHOWN, firstOf, type KeptContact } from './run-object.ts'

/** Contacts per transaction: each may have 256 KiB. */
const CONTACTS_PER_PAGE = 200
const COMPANIES_PER_PAGE = 1_000
const UNDO = 'enrichment_undo'

/**
 * Undoes a run, a page of contacts at a time: what it changed is restored, unless something else has changed it since. Then the
 * companies that it created are deleted if nothing uses them. What is undone is no longer stored, so an interrupted undo continues.
 */
export async function undoRun(
  run: Run<'enrichment_runs'>,
  writing: WriteDependencies,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const changes = await nextChanges(run)
    if (changes.length === 0) break
    await changeContacts(run.tenant, writing, (tx, log) => undoChanges(run, tx, log, writing, changes))
  }
  while (await undoCompanies(run)) signal.throwIfAborted()
  await completeRun(run, {}, writing.clock())
}

interface StoredChange {
  contact_id: string
  changed: ContactChange
}

async function nextChanges({ tenant, runId }: Run<'enrichment_runs'>): Promise<StoredChange[]> {
  const rows = await tenant.db
    .selectFrom('enrichment_run_changes')
    .select(['contact_id', 'changed'])
    .where('run_id', '=', runId)
    .orderBy('contact_id')
    .limit(CONTACTS_PER_PAGE)
    .execute()
  return rows.map(({ contact_id, changed }) => ({ contact_id, changed: changed as unknown as ContactChange }))
}

async function undoChanges(
  run: Run<'enrichment_runs'>,
  tx: Tenant,
  log: ChangeLog,
  writing: WriteDependencies,
  changes: readonly StoredChange[],
): Promise<void> {
  const now = writing.clock()
  const contactIds = changes.map(({ contact_id }) => contact_id)
  const rawOf = [...new Set(changes.flatMap(({ changed }) => Object.keys(changed.records)))]
  const set = await openSet(tx, [{ contactIds, rawOf }])
  const kept: KeptContact[] = []
  let restored = 0
  for (const { contact_id, changed } of changes) {
    const state = set.contact(contact_id)
    // Deleted or merged since: there is nothing left to restore.
    if (!state) continue
    const before = state.row
    const undone = withoutChange(state, changed, now)
    const companyId = await existing(tx, writing, before.company_id, undone.row.company_id)
    const row = { ...undone.row, company_id: companyId }
    set.replace(state, { row, records: undone.records })
    if (undone.kept.length > 0) kept.push({ contact_id, kept: undone.kept })
    else restored++
    const isNews = undone.restored.length > 0 || companyId !== before.company_id
    if (isNews) set.addEvents(...changedEvents(before, row, undone.restored, UNDO, now))
  }
  await storeSet(tx, log, set)
  await tx.db
    .deleteFrom('enrichment_run_changes')
    .where('run_id', '=', run.runId)
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .execute()
  await updateRun(
    run,
    {
      undone_restored: sql<number>`undone_restored + ${restored}`,
      undone_kept: sql<number>`undone_kept + ${kept.length}`,
      kept: firstOf('kept', kept.slice(0, CONTACTS_SHOWN)),
      failures: 0,
    },
    tx,
  )
}

/** The company that a contact gets back; none if it has been deleted. */
async function existing(
  tx: Tenant,
  { keepCompany }: WriteDependencies,
  current: string | null,
  companyId: string | null,
): Promise<string | null> {
  if (companyId === null || companyId === current) return companyId
  return (await keepCompany(tx, companyId)) ? companyId : null
}

/** @returns whether there may be more. */
async function undoCompanies(run: Run<'enrichment_runs'>): Promise<boolean> {
  const { tenant, runId } = run
  const rows = await tenant.db
    .selectFrom('enrichment_run_companies')
    .select('company_id')
    .where('run_id', '=', runId)
    .limit(COMPANIES_PER_PAGE)
    .execute()
  if (rows.length === 0) return false
  const companyIds = rows.map(({ company_id }) => company_id)
  await tenant.transaction(async (tx) => {
    const deleted = await deleteUnusedCompanies(tx, companyIds)
    await tx.db
      .deleteFrom('enrichment_run_companies')
      .where('run_id', '=', runId)
      .where('company_id', '=', sql<string>`any(${companyIds}::uuid[])`)
      .execute()
    await updateRun(run, { undone_companies: sql<number>`undone_companies + ${deleted}` }, tx)
  })
  return true
}
