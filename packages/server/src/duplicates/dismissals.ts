import { notFound } from '../platform/errors.ts'
import { lock } from '../platform/postgres/locks.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { Move } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Two contacts, the smaller id first. */
export type Pair = { contact_id: string; other_contact_id: string }

export function pairOf(a: string, b: string): Pair {
  return a < b ? { contact_id: a, other_contact_id: b } : { contact_id: b, other_contact_id: a }
}

/** A text that is the same for the same two contacts. */
export function textOfPair({ contact_id, other_contact_id }: Pair): string {
  return `${contact_id} ${other_contact_id}`
}

/** Says for good that two contacts are two people. @throws ServiceError 404. */
export async function dismissDuplicate(tenant: Tenant, duplicateId: string, now: Date): Promise<Pair> {
  return tenant.transaction(async (tx) => {
    // A search that has not seen the dismissal would suggest the pair again.
    await lock(tx.db, 'duplicates', tx.id)
    const pair = await tx.db
      .deleteFrom('duplicates')
      .where('duplicate_id', '=', duplicateId)
      .returning(['contact_id', 'other_contact_id'])
      .executeTakeFirst()
    if (!pair) throw notFound('duplicate')
    await tx.db
      .insertInto('duplicate_dismissals')
      .values({ ...pair, dismissed_at: now })
      .onConflict((row) => row.doNothing())
      .execute()
    return pair
  })
}

/** Which of some pairs were dismissed. */
export async function dismissedAmong(tx: Tenant, pairs: readonly Pair[]): Promise<Set<string>> {
  if (pairs.length === 0) return new Set()
  const asked = recordset(pairs, 'asked', { contact_id: 'uuid', other_contact_id: 'uuid' })
  const rows = await tx.db
    .selectFrom('duplicate_dismissals as dismissed')
    .innerJoin(asked, (join) =>
      join
        .onRef('asked.contact_id', '=', 'dismissed.contact_id')
        .onRef('asked.other_contact_id', '=', 'dismissed.other_contact_id'),
    )
    .select(['dismissed.contact_id', 'dismissed.other_contact_id'])
    .execute()
  return new Set(rows.map(textOfPair))
}

/** A dismissal that a merge moved; `shared` if the survivor had the same one. */
type MovedDismissal = Pair & { shared?: 'true' }

/**
 * Whoever is not the same person as a merged contact is not the same person as its survivor.
 * @param only at an unmerge: those that the merge moved.
 */
export async function moveDismissals(
  tx: Tenant,
  { from, to, now }: Move,
  only?: readonly MovedDismissal[],
): Promise<MovedDismissal[]> {
  // At an unmerge, those that were moved have the ids of before the merge.
  const moving: readonly MovedDismissal[] = only ?? (await dismissalsOf(tx, from))
  const moved: MovedDismissal[] = []
  for (const { contact_id, other_contact_id, shared } of moving) {
    const before: Pair = { contact_id, other_contact_id }
    const [own, others] = only ? [to, from] : [from, to]
    const renamed = (id: string) => (id === own ? others : id)
    const after = pairOf(renamed(contact_id), renamed(other_contact_id))
    const [source, target] = only ? [after, before] : [before, after]
    if (!shared) await deleteDismissal(tx, source)
    const isNew = await insertDismissal(tx, target, now)
    moved.push(isNew ? before : { ...before, shared: 'true' })
  }
  return only ? [] : moved
}

async function dismissalsOf(tx: Tenant, contactId: string): Promise<Pair[]> {
  return tx.db
    .selectFrom('duplicate_dismissals')
    .select(['contact_id', 'other_contact_id'])
    .where(({ eb, or }) => or([eb('contact_id', '=', contactId), eb('other_contact_id', '=', contactId)]))
    .execute()
}

async function deleteDismissal(tx: Tenant, pair: Pair): Promise<void> {
  await tx.db
    .deleteFrom('duplicate_dismissals')
    .where('contact_id', '=', pair.contact_id)
    .where('other_contact_id', '=', pair.other_contact_id)
    .execute()
}

/** @returns whether it was not there. */
async function insertDismissal(tx: Tenant, pair: Pair, now: Date): Promise<boolean> {
  const inserted = await tx.db
    .insertInto('duplicate_dismissals')
    .values({ ...pair, dismissed_at: now })
    .onConflict((row) => row.doNothing())
    .returning('contact_id')
    .executeTakeFirst()
  return inserted !== undefined
}
