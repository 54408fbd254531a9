import { type Actor, audit } from '../../operations/audit.ts'
import { conflict, notFound, ServiceError, validationError } from '../../platform/errors.ts'
import { Collision } from '../../platform/postgres/collisions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Alias, EMAIL, EXTERNAL_ID, idOfSource, namedContact, survivorOfContact } from '../aliases.ts'
import { etagOfRow } from '../contact-object.ts'
import type { ContactRow } from '../contact-row.ts'
import type { Properties } from '../properties.ts'
import { findContact } from '../read.ts'
import { requireContactFits } from '../size.ts'
import type { Contents } from '../writing/contact-set.ts'
import { changedEvents } from '../writing/events.ts'
import { openSet } from '../writing/keys.ts'
import { storeSet } from '../writing/store.ts'
import { changeContacts, type WriteDependencies } from '../writing/transaction.ts'
import { mergedContent } from './merge-content.ts'
import { moveRows } from './moved-rows.ts'

/** The services that merging needs from features that depend on contacts. */
export interface MergeServices extends WriteDependencies {
  /** Records must not move while an erasure removes them. @throws ServiceError 409 `erasure_under_way` */
  refuseWhileErasing(tx: Tenant, contactIds: readonly string[]): Promise<void>
}

export const MERGE = 'merge'

/** Each merge stores copies of both contacts and adds keys that lead to the survivor. */
const MERGES_MAX = 250

/**
 * Merges a contact into another, which survives: it gets the contact's properties, visitors, events and notes, and is
 * found by its keys. The contact's row is deleted; `contact_merges` stores what unmerging needs.
 * @param requireMatch checks the ETag of the contact that is merged, once both are locked.
 * @throws ServiceError 400 if both are the same contact or there are too many properties, 404, 409 `already_merged`,
 * `erasure_under_way`, `too_many_visitors`, `too_many_merges`, 413 `contact_too_large`; then nothing is written.
 */
export async function mergeContacts(
  tenant: Tenant,
  dependencies: MergeServices,
  { contactId, into }: { contactId: string; into: string },
  actor: Actor,
  requireMatch: (etag: string) => void,
): Promise<ContactRow> {
  if (contactId === into) throw validationError([{ path: 'into', message: 'must be a different contact' }])
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const set = await openSet(tx, [{ contactIds: [contactId, into], rawOf: null }], 'forUpdate')
    const merged = set.contact(contactId)?.stored ?? (await throwGone(tx, contactId, 'contact_id'))
    const survivor = set.contact(into) ?? (await throwGone(tx, into, 'into'))
    const before = { row: survivor.row, records: survivor.records }
    requireMatch(etagOfRow(merged.row, (await dependencies.findComputedNames(tx)).contacts))
    await dependencies.refuseWhileErasing(tx, [contactId, into])
    await requireFewMerges(tx, [contactId, into])
    const content = mergedContent(before, merged, now)
    requireContactFits(sizedOf(before), sizedOf(content), 'manual')
    set.replace(survivor, content)
    // An unmerge takes back what follows from the merge, too.
    await dependencies.enrich(tx, set, now)
    const after = { row: survivor.row, records: survivor.records }

    const moved = await moveRows(tx, dependencies, { from: contactId, to: into, source: MERGE, now, log })
    await tx.db
      .insertInto('contact_merges')
      .values({
        contact_id: contactId,
        into_contact_id: into,
        survivor_id: into,
        merged_at: now,
        merged_by: JSON.stringify(actor),
        merged: JSON.stringify(merged),
        survivor_before: JSON.stringify(before),
        survivor_after: JSON.stringify(after),
        moved: JSON.stringify(moved),
      })
      .execute()
    await storeAliases(tx, contactId, merged)
    log.events.push(...(await dependencies.segments.leave(tx, [contactId])))
    await tx.db.deleteFrom('contacts').where('contact_id', '=', contactId).execute()
    const events = changedEvents(before.row, content.row, keysThatDiffer(before, content), MERGE, now)
    log.events.push(...events.map((event) => ({ ...event, data: { ...event.data, merged_contact_id: contactId } })))
    await storeSet(tx, log, set)
    log.events.push({ event: 'contact_deleted', at: now, contactId, data: { merged_into: into } })
    log.noteChange(into, 'everything')
    log.linked.add(into)
    const details = { into, visitors: moved.visitors?.length ?? 0, notes: moved.notes?.length ?? 0 }
    await audit(tx, { actor, action: 'contact.merged', subjectKind: 'contact', subjectId: contactId, details }, now)
    return after.row
  })
}

/** The names of differing properties, including `email`. */
export function keysThatDiffer({ row: a }: Contents, { row: b }: Contents): string[] {
  const [before, after] = [a.properties as Properties, b.properties as Properties]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...keys].filter(
    (key) =>
      Object.hasOwn(before, key) !== Object.hasOwn(after, key) ||
      JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  )
  return a.email === b.email ? changed : [...changed, 'email']
}

async function requireFewMerges(tx: Tenant, contactIds: readonly string[]): Promise<void> {
  const { count } = await tx.db
    .selectFrom('contact_merges')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('survivor_id', 'in', contactIds)
    .executeTakeFirstOrThrow()
  if (Number(count) < MERGES_MAX) return
  throw conflict('too_many_merges', `A contact can have at most ${MERGES_MAX} merged contacts.`)
}

async function throwGone(tx: Tenant, contactId: string, path: 'contact_id' | 'into'): Promise<never> {
  const survivorId = await survivorOfContact(tx, contactId)
  if (survivorId !== null) {
    const message = `Contact ${contactId} was already merged into ${survivorId}. Use that contact, or unmerge this one first.`
    throw conflict('already_merged', message, namedContact(survivorId))
  }
  // It has been unmerged.
  if (await findContact(tx, contactId)) throw new Collision()
  if (path === 'contact_id') throw notFound('contact')
  const details = [{ path, message: 'is not the id of one of your contacts' }]
  throw new ServiceError(404, 'not_found', 'There is no contact with the id in into.', { details })
}

function sizedOf({ row, records }: Contents) {
  return { email: row.email, properties: row.properties as Properties, records }
}

async function storeAliases(tx: Tenant, contactId: string, { row, records }: Contents): Promise<void> {
  const aliases: Alias[] = [
    ...(row.email === null ? [] : [{ ...EMAIL, key: row.email }]),
    ...(row.external_id === null ? [] : [{ ...EXTERNAL_ID, key: row.external_id }]),
    ...records.flatMap(({ source, external_id }) =>
      external_id === null ? [] : [{ ...idOfSource(source), key: external_id }],
    ),
  ]
  if (aliases.length === 0) return
  await tx.db
    .insertInto('contact_aliases')
    .values(aliases.map((alias) => ({ ...alias, contact_id: contactId })))
    // It shares the key with a contact that was merged into it, whose alias moves along anyway.
    .onConflict((known) => known.doNothing())
    .execute()
}
