import type { Selectable } from 'kysely'
import { conflict, notFound } from '../../platform/errors.ts'
import { Collision } from '../../platform/postgres/collisions.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { emailTaken, namedContact, survivorOfContact } from '../aliases.ts'
import { etagOfRow } from '../contact-object.ts'
import type { ContactRow } from '../contact-row.ts'
import { findContact } from '../read.ts'
import type { Contents, KeyKind } from '../writing/contact-set.ts'
import { changedEvents, createdEvent } from '../writing/events.ts'
import { openSet } from '../writing/keys.ts'
import { storeSet } from '../writing/store.ts'
import { type ChangeLog, changeContacts } from '../writing/transaction.ts'
import { keysThatDiffer, type MergeServices } from './merge.ts'
import { contentWithoutMerge, revived } from './merge-content.ts'
import { type Moved, moveRows } from './moved-rows.ts'

const UNMERGE = 'unmerge'

type Merge = Selectable<TenantTables['contact_merges']>

/**
 * Restores a merged contact, and reverts the changes of the merge to the survivor. Everything since stays with the
 * survivor. The size limits of contacts do not apply, because both had their restored values before.
 * @param requireMatch checks the ETag of the survivor, once it is locked.
 * @throws ServiceError 404, 409 `contact_not_merged`, `unmerge_later_first`, `erasure_under_way`,
 * `contact_email_taken`, `contact_keys_taken`, `too_many_visitors`; then nothing is written.
 */
export async function unmergeContact(
  tenant: Tenant,
  dependencies: MergeServices,
  contactId: string,
  requireMatch: (etag: string) => void,
): Promise<{ row: ContactRow; unmergedFrom: string }> {
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const merge = await findMerge(tx, contactId)
    const survivorId = merge.into_contact_id
    const ownId = revived(merge.merged).row.external_id
    const externalIds = ownId === null ? [] : [ownId]
    const set = await openSet(tx, [{ contactIds: [survivorId], externalIds, rawOf: null }], 'forUpdate')
    const state = set.contact(survivorId)
    // While waiting for the lock, the survivor was merged or deleted.
    if (!state) throw new Collision()
    const current = { row: state.row, records: state.records }
    await requireLatest(tx, merge)
    requireMatch(etagOfRow(current.row, (await dependencies.findComputedNames(tx)).contacts))
    await dependencies.refuseWhileErasing(tx, [contactId, survivorId])

    const merged = revived(merge.merged)
    const undone = contentWithoutMerge(current, revived(merge.survivor_before), revived(merge.survivor_after), now)
    const survivor = await withCompany(tx, dependencies, undone)
    set.replace(state, survivor)
    await storeSet(tx, log, set)
    await tx.db.deleteFrom('contact_merges').where('contact_id', '=', contactId).execute()
    const row = await restore(tx, log, await withCompany(tx, dependencies, merged), now)
    const move = { from: survivorId, to: contactId, source: UNMERGE, now, log }
    await moveRows(tx, dependencies, move, merge.moved as unknown as Moved)

    const created = createdEvent(row, UNMERGE, now)
    log.events.push({ ...created, data: { ...created.data, unmerged_from: survivorId } })
    const changed = keysThatDiffer(current, survivor)
    const events = changedEvents(current.row, state.row, changed, UNMERGE, now)
    log.events.push(...events.map((event) => ({ ...event, data: { ...event.data, unmerged_contact_id: contactId } })))
    for (const id of [contactId, survivorId]) {
      log.noteChange(id, 'everything')
      log.linked.add(id)
    }
    return { row, unmergedFrom: survivorId }
  })
}

async function findMerge(tx: Tenant, contactId: string): Promise<Merge> {
  const merge = await tx.db
    .selectFrom('contact_merges')
    .selectAll()
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  if (merge) {
    if (merge.survivor_id !== merge.into_contact_id) throw laterFirst(merge.into_contact_id)
    return merge
  }
  if (!(await findContact(tx, contactId))) {
    // It was merged between the two queries.
    if ((await survivorOfContact(tx, contactId)) !== null) throw new Collision()
    throw notFound('contact')
  }
  throw conflict('contact_not_merged', 'This contact is not merged into another.')
}

/** Merges into one contact are undone in reverse order: each stores the contact's state just before it. */
async function requireLatest(tx: Tenant, { contact_id, into_contact_id, position }: Merge): Promise<void> {
  const merges = await tx.db
    .selectFrom('contact_merges')
    .select(['contact_id', 'position'])
    .where('survivor_id', '=', into_contact_id)
    .where('into_contact_id', '=', into_contact_id)
    .where('position', '>=', position)
    .orderBy('position', 'desc')
    .execute()
  // While waiting for the lock, it was unmerged.
  if (merges.at(-1)?.contact_id !== contact_id) throw new Collision()
  const [latest] = merges
  if (latest && latest.contact_id !== contact_id) throw laterFirst(latest.contact_id)
}

function laterFirst(contactId: string) {
  const message = `Contact ${contactId} was merged later. Unmerge it first, with POST /v1/contacts/${contactId}/unmerge.`
  return conflict('unmerge_later_first', message, namedContact(contactId))
}

/** The contact, without its company if that has been deleted since. */
async function withCompany(
  tx: Tenant,
  { keepCompany }: Pick<MergeServices, 'keepCompany'>,
  content: Contents,
): Promise<Contents> {
  const { company_id } = content.row
  if (company_id === null || (await keepCompany(tx, company_id))) return content
  return { ...content, row: { ...content.row, company_id: null } }
}

async function restore(tx: Tenant, log: ChangeLog, { row: merged, records }: Contents, now: Date): Promise<ContactRow> {
  const { email, external_id: externalId } = merged
  const ofSources = records.flatMap(({ source, external_id }) => (external_id === null ? [] : { source, external_id }))
  const set = await openSet(tx, [
    { emails: email === null ? [] : [email], externalIds: externalId === null ? [] : [externalId] },
    ...ofSources.map(({ source, external_id }) => ({ ofSource: { source, externalIds: [external_id] } })),
  ])
  const holderOf = (kind: KeyKind, key: string | null, source?: string) =>
    key === null || set.isAlias(kind, key, source) ? undefined : set.find(kind, key, source)
  const holder = holderOf('email', email)
  if (holder) throw emailTaken(holder.row.contact_id)
  if (holderOf('external_id', externalId)) throw keysTaken(`external id ${externalId}`)
  for (const { source, external_id } of ofSources) {
    if (holderOf('source', external_id, source)) throw keysTaken(`id ${external_id} of source ${source}`)
  }
  const { row } = set.create({ ...merged, updated_at: now }, records)
  await storeSet(tx, log, set, { isRestoring: true })
  return row
}

function keysTaken(key: string) {
  return conflict('contact_keys_taken', `The ${key} now belongs to another contact. Remove it there first.`)
}
