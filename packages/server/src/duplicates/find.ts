import { sql } from 'kysely'
import { comparedContacts } from '../contacts/compared-values.ts'
import { lockUnlessBusy } from '../contacts/locks.ts'
import { newId } from '../platform/ids.ts'
import { lock } from '../platform/postgres/locks.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { Tenant } from '../platform/tenant.ts'
import { compareContacts, type Likeness } from './compare.ts'
import { dismissedAmong, type Pair, pairOf, textOfPair } from './dismissals.ts'
import { keysOf, type Traits, traitsOf } from './traits.ts'

const CONTACTS_AT_ONCE = 100
/** How many others with one key a contact is compared with, so that no contact costs more than others: the newest. */
const HOLDERS_MAX = 50

interface Found extends Pair, Likeness {}

/** Looks for the duplicates of the contacts that have waited longest. */
export async function checkSome(tenant: Tenant, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    // One search at a time: two would not see each other's contacts.
    await lock(tx.db, 'duplicates', tx.id)
    const due = await tx.db
      .selectFrom('duplicate_checks')
      .select(['check_id', 'contact_id'])
      .orderBy('check_id')
      .limit(CONTACTS_AT_ONCE)
      .execute()
    // A contact that is being changed is checked after that change; if that fails, this check is still there.
    const { locked, busy } = await lockUnlessBusy(tx, [...new Set(due.map(({ contact_id }) => contact_id))])
    const traits = await readTraits(tx, locked)
    await storeKeys(tx, traits)
    const { found, unsure } = await findPairs(tx, traits)
    await storePairs(tx, locked, found, now)
    const later = new Set([...busy, ...unsure])
    const done = due.filter(({ contact_id }) => !later.has(contact_id))
    await tx.db
      .deleteFrom('duplicate_checks')
      .where('check_id', '=', sql<string>`ANY(${done.map(({ check_id }) => check_id)}::bigint[])`)
      .execute()
  })
}

async function readTraits(tx: Tenant, contactIds: readonly string[]): Promise<Map<string, Traits>> {
  const contacts = await comparedContacts(tx, contactIds)
  return new Map([...contacts].map(([id, contact]) => [id, traitsOf(contact)]))
}

async function storeKeys(tx: Tenant, traits: ReadonlyMap<string, Traits>): Promise<void> {
  await tx.db
    .deleteFrom('duplicate_keys')
    .where('contact_id', '=', sql<string>`ANY(${[...traits.keys()]}::uuid[])`)
    .execute()
  const rows = [...traits].flatMap(([contact_id, of]) => keysOf(of).map((key) => ({ contact_id, key })))
  if (rows.length > 0) await tx.db.insertInto('duplicate_keys').values(rows).execute()
}

/** @returns the pairs of some contacts, and the contacts of which a pair could not be stored now. */
async function findPairs(
  tx: Tenant,
  traits: ReadonlyMap<string, Traits>,
): Promise<{ found: Found[]; unsure: string[] }> {
  const candidates = await candidatesOf(tx, [...traits.keys()])
  const unread = candidates.flatMap((pair) => idsOf(pair).filter((id) => !traits.has(id)))
  const all = new Map([...traits, ...(await readTraits(tx, [...new Set(unread)]))])
  const alike = candidates.flatMap((pair): Found[] => {
    const [a, b] = idsOf(pair).map((id) => all.get(id))
    const likeness = a && b && compareContacts(a, b)
    return likeness ? [{ ...pair, ...likeness }] : []
  })
  // The others too, because one that is being merged or deleted is no duplicate any more.
  const others = new Set(alike.flatMap(idsOf).filter((id) => !traits.has(id)))
  const { locked, busy } = await lockUnlessBusy(tx, [...others])
  const kept = new Set([...traits.keys(), ...locked])
  const dismissed = await dismissedAmong(tx, alike)
  const found = alike.filter((pair) => idsOf(pair).every((id) => kept.has(id)) && !dismissed.has(textOfPair(pair)))
  return { found, unsure: alike.filter((pair) => idsOf(pair).some((id) => busy.includes(id))).flatMap(idsOf) }
}

function idsOf({ contact_id, other_contact_id }: Pair): [string, string] {
  return [contact_id, other_contact_id]
}

/** Pairs of some contacts with others that share a key with them. */
export async function candidatesOf(tx: Tenant, contactIds: readonly string[]): Promise<Pair[]> {
  const rows = await tx.db
    .selectFrom('duplicate_keys as own')
    .innerJoinLateral(
      (db) =>
        db
          .selectFrom('duplicate_keys as holder')
          .select('holder.contact_id as id')
          .whereRef('holder.key', '=', 'own.key')
          .whereRef('holder.contact_id', '<>', 'own.contact_id')
          .orderBy('holder.key', 'desc')
          .orderBy('holder.contact_id', 'desc')
          .limit(HOLDERS_MAX)
          .as('other'),
      (join) => join.onTrue(),
    )
    .select(['own.contact_id', 'other.id as other_contact_id'])
    .where('own.contact_id', '=', sql<string>`ANY(${contactIds}::uuid[])`)
    .execute()
  const pairs = [...rows, ...(await pairsWith(tx, contactIds))].map((row) =>
    pairOf(row.contact_id, row.other_contact_id),
  )
  return [...new Map(pairs.map((pair) => [textOfPair(pair), pair])).values()]
}

/** The stored pairs of some contacts. */
async function pairsWith(tx: Tenant, contactIds: readonly string[]): Promise<Pair[]> {
  const isAny = sql<string>`ANY(${contactIds}::uuid[])`
  const stored = tx.db.selectFrom('duplicates').select(['contact_id', 'other_contact_id'])
  const [first, second] = await Promise.all([
    stored.where('contact_id', '=', isAny).execute(),
    stored.where('other_contact_id', '=', isAny).execute(),
  ])
  return [...first, ...second]
}

/** Replaces the pairs of some contacts. One that stays keeps its id. */
async function storePairs(
  tx: Tenant,
  contactIds: readonly string[],
  found: readonly Found[],
  now: Date,
): Promise<void> {
  const kept = new Set(found.map(textOfPair))
  const gone = (await pairsWith(tx, contactIds)).filter((pair) => !kept.has(textOfPair(pair)))
  if (gone.length > 0) {
    const left = tx.db
      .selectFrom(recordset(gone, 'gone', { contact_id: 'uuid', other_contact_id: 'uuid' }))
      .select(['gone.contact_id', 'gone.other_contact_id'])
    await tx.db
      .deleteFrom('duplicates')
      .where(({ eb, refTuple }) =>
        eb(refTuple('contact_id', 'other_contact_id'), 'in', left.$asTuple('contact_id', 'other_contact_id')),
      )
      .execute()
  }
  if (found.length === 0) return
  await tx.db
    .insertInto('duplicates')
    .values(found.map((pair) => ({ ...pair, duplicate_id: newId(), found_at: now })))
    .onConflict((row) =>
      row.columns(['contact_id', 'other_contact_id']).doUpdateSet(({ ref }) => ({
        confidence: ref('excluded.confidence'),
        reasons: ref('excluded.reasons'),
      })),
    )
    .execute()
}
