import Type from 'typebox'
import { deleteUnusedCompanies } from '../companies/write.ts'
import { contactsInUse, isOnlyWrittenBy, type Replaced, undoWrite } from '../contacts/undo-write.ts'
import { deleteUnused } from '../contacts/write.ts'
import type { ContactState } from '../contacts/writing/contact-set.ts'
import { changedEvents } from '../contacts/writing/events.ts'
import { openSet } from '../contacts/writing/keys.ts'
import { storeSet } from '../contacts/writing/store.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/writing/transaction.ts'
import { contactsInConversations } from '../conversations/participants.ts'
import { activityOfContacts } from '../events/activity.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { ContactId } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import { completeRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { requireImport } from './imports.ts'
import { SOURCE } from './stage-file.ts'
import type { Task } from './task.ts'

/** Contacts per transaction: each may have 256 KiB. */
const CHANGES_PER_PAGE = 200
const COMPANIES_PER_PAGE = 1_000
const UNDO = 'import_undo'

/** A contact that undoing an import left as it is, in whole or in part. */
export const KeptContact = Type.Object(
  {
    contact_id: ContactId,
    properties: Type.Array(Type.String(WORD), {
      description: 'The properties that were changed since the import. Empty: the whole contact is in use.',
    }),
  },
  { title: 'KeptContact' },
)
export type KeptContact = Type.Static<typeof KeptContact>

interface Change {
  position: string
  contact_id: string
  written_at: Date
  replaced: Replaced | null
}

/**
 * Undoes an import backwards, a page of contacts at a time: contacts that it created are deleted, and values that it
 * replaced are restored, unless something else has changed them since. Then the companies that it created are deleted
 * if nothing uses them.
 */
export async function undoImport(task: Task, writing: WriteDependencies): Promise<void> {
  const { tenant, importId } = task
  const total = await countChanges(tenant, importId, 'to undo')
  let before: string | null = null
  for (let done = 0; ; ) {
    const changes = await nextChanges(tenant, importId, before)
    const last = changes.at(-1)
    if (!last) break
    before = last.position
    const withEvents = await contactsWithEvents(tenant, changes)
    await changeContacts(tenant, writing, async (tx, log) => {
      await task.check(tx)
      await undoChanges(tx, log, writing, { importId, changes, withEvents })
    })
    done += changes.length
    await task.setProgress(Math.min(1, done / Math.max(1, total)))
  }
  await undoCompanies(task)
  const { finished_at } = task.run.row
  // The time of its import stays.
  await completeRun(task.run, { progress: 1, finished_at }, writing.clock())
}

/** @param before a position. The changes after it have already been undone. */
async function nextChanges(tenant: Tenant, importId: string, before: string | null): Promise<Change[]> {
  const changes = tenant.db
    .selectFrom('import_changes')
    .select(['position', 'contact_id', 'written_at', 'replaced'])
    .where('import_id', '=', importId)
    .where('is_undone', '=', false)
    .orderBy('position', 'desc')
    .limit(CHANGES_PER_PAGE)
  const rows = await (before === null ? changes : changes.where('position', '<', before)).execute()
  return rows.map((row) => ({ ...row, replaced: row.replaced as unknown as Replaced | null }))
}

async function undoCompanies({ tenant, importId, check }: Task): Promise<void> {
  const companies = tenant.db.selectFrom('import_companies').select('company_id').where('import_id', '=', importId)
  for (;;) {
    const ids = (await companies.limit(COMPANIES_PER_PAGE).execute()).map(({ company_id }) => company_id)
    if (ids.length === 0) return
    await tenant.transaction(async (tx) => {
      await check(tx)
      const deleted = await deleteUnusedCompanies(tx, ids)
      const done = tx.db.deleteFrom('import_companies').where('import_id', '=', importId)
      await done.where('company_id', 'in', ids).execute()
      await tx.db
        .updateTable('imports')
        .set(({ eb }) => ({ undone_companies: eb('undone_companies', '+', deleted) }))
        .where('import_id', '=', importId)
        .execute()
    })
  }
}

/** Of the contacts that the import created, those that have events. */
async function contactsWithEvents(tenant: Tenant, changes: readonly Change[]): Promise<Set<string>> {
  const created = createdBy(changes)
  if (created.length === 0) return new Set()
  return new Set((await activityOfContacts(tenant, created, {}, 1)).keys())
}

/** Of the same contacts, locked, those with anything else besides their properties. */
async function contactsWithMore(tx: Tenant, changes: readonly Change[]): Promise<Set<string>> {
  const created = createdBy(changes)
  return (await contactsInUse(tx, created)).union(await contactsInConversations(tx, created))
}

function createdBy(changes: readonly Change[]): string[] {
  return changes.flatMap(({ contact_id, replaced }) => (replaced === null ? contact_id : []))
}

interface UndoPage {
  importId: string
  changes: readonly Change[]
  withEvents: ReadonlySet<string>
}

async function undoChanges(
  tx: Tenant,
  log: ChangeLog,
  writing: WriteDependencies,
  { importId, changes, withEvents }: UndoPage,
): Promise<void> {
  const now = writing.clock()
  const contactIds = [...new Set(changes.map(({ contact_id }) => contact_id))]
  const set = await openSet(tx, [{ contactIds }], 'forUpdate')
  const inUse = withEvents.union(await contactsWithMore(tx, changes))
  const restored = new Map<ContactState, { before: ContactState['row']; changed: string[] }>()
  const kept: { position: string; properties: string[] }[] = []
  const deleted: string[] = []
  for (const { position, contact_id, written_at, replaced } of changes) {
    const state = set.contact(contact_id)
    // Deleted or merged since: there is nothing left to restore.
    if (!state) continue
    if (replaced === null) {
      if (isOnlyWrittenBy(SOURCE.source, state, written_at) && !inUse.has(contact_id)) deleted.push(contact_id)
      else kept.push({ position, properties: [] })
      continue
    }
    const undone = undoWrite(SOURCE.source, state, replaced, written_at, now)
    if (undone.kept.length > 0) kept.push({ position, properties: undone.kept })
    const earlier = restored.get(state)
    restored.set(state, {
      before: earlier?.before ?? state.row,
      changed: [...new Set([...(earlier?.changed ?? []), ...undone.changed])],
    })
    const others = state.records.filter(({ source }) => source !== SOURCE.source)
    set.replace(state, { row: undone.row, records: undone.record === null ? others : [...others, undone.record] })
  }
  for (const [{ row }, { before, changed }] of restored) {
    const isNews = changed.length > 0 || before.company_id !== row.company_id
    if (isNews) set.addEvents(...changedEvents(before, row, changed, UNDO, now))
  }
  await storeSet(tx, log, set)
  await deleteUnused(tx, log, writing, deleted, now)
  await noteUndone(tx, importId, { changes, kept, deleted: deleted.length, restored: restored.size })
}

interface UndoneCounts {
  changes: readonly Change[]
  kept: readonly { position: string; properties: string[] }[]
  deleted: number
  restored: number
}

async function noteUndone(tx: Tenant, importId: string, { changes, kept, deleted, restored }: UndoneCounts) {
  const isKept = new Set(kept.map(({ position }) => position))
  const done = changes.flatMap(({ position }) => (isKept.has(position) ? [] : position))
  const ofImport = tx.db.updateTable('import_changes').set({ is_undone: true, replaced: null })
  if (done.length > 0) await ofImport.where('import_id', '=', importId).where('position', 'in', done).execute()
  for (const { position, properties } of kept) {
    await ofImport
      .set({ kept: JSON.stringify(properties) })
      .where('import_id', '=', importId)
      .where('position', '=', position)
      .execute()
  }
  await tx.db
    .updateTable('imports')
    .set(({ eb }) => ({
      undone_deleted: eb('undone_deleted', '+', deleted),
      undone_restored: eb('undone_restored', '+', restored),
      undone_kept: eb('undone_kept', '+', kept.length),
      failures: 0,
    }))
    .where('import_id', '=', importId)
    .execute()
}

async function countChanges(tenant: Tenant, importId: string, which: 'to undo' | 'kept'): Promise<number> {
  const changes = tenant.db
    .selectFrom('import_changes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('import_id', '=', importId)
  const counted = which === 'kept' ? changes.where('kept', 'is not', null) : changes.where('is_undone', '=', false)
  return (await counted.executeTakeFirstOrThrow()).count
}

/** One page of the contacts that undoing an import kept, and the total. @throws ServiceError 404. */
export async function listKept(
  tenant: Tenant,
  importId: string,
  page: Page,
): Promise<{ contacts: KeptContact[]; total: number }> {
  await requireImport(tenant, importId)
  const rows = await tenant.db
    .selectFrom('import_changes')
    .select(['contact_id', 'kept'])
    .where('import_id', '=', importId)
    .where('kept', 'is not', null)
    .orderBy('position')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const contacts = rows.map(({ contact_id, kept }) => ({ contact_id, properties: kept as unknown as string[] }))
  return { contacts, total: await countChanges(tenant, importId, 'kept') }
}
