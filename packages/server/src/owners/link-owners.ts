import { type QueryCreator, type RawBuilder, sql } from 'kysely'
import { conflict } from '../platform/errors.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { Move } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { anyOf } from './owners.ts'

/** A query of a contact's events names all of its owners (owners.ts), and its limit is higher than this. */
const OWNERS_MAX = 10_000

/** Where the written rows of `owner_links` are collected, for ClickHouse's copy. */
interface OwnerLog {
  ownerLinks: object[]
}

/**
 * Assigns the events of some owners to a contact when the caller's transaction commits: recorded, in-flight and future
 * ones. The caller must have locked the owners, which are visitors or contacts.
 */
export async function linkOwners(
  tx: Tenant,
  log: OwnerLog,
  ownerIds: readonly string[],
  contactId: string,
): Promise<void> {
  if (ownerIds.length === 0) return
  const links = ownerIds.map((owner_id) => ({ owner_id, contact_id: contactId }))
  const rows = await linkingOwners(tx.db, links).execute()
  log.ownerLinks.push(...rows.map((row) => ({ tenant_id: tx.id, ...row })))
}

/** A statement that assigns the events of owners to contacts, and returns the rows. Each owner must be named once. */
export function linkingOwners(
  db: QueryCreator<TenantTables>,
  links: readonly { owner_id: string; contact_id: string }[],
) {
  const types = { owner_id: 'uuid', contact_id: 'uuid' } as const
  // In a fixed order, so that two transactions cannot deadlock.
  const sorted = links.toSorted((a, b) => (a.owner_id < b.owner_id ? -1 : 1))
  return db
    .insertInto('owner_links')
    .columns(['owner_id', 'contact_id'])
    .expression((eb) => eb.selectFrom(recordset(sorted, 'sent', types)).select(['owner_id', 'contact_id']))
    .onConflict((known) =>
      known.columns(['owner_id']).doUpdateSet(({ ref }) => ({
        contact_id: ref('excluded.contact_id'),
        version: sql<number>`${ref('owner_links.version')} + 1`,
      })),
    )
    .returning(['owner_id', 'contact_id', 'version'])
}

/**
 * Assigns a contact's events to another: its own, those of its visitors and of the contacts merged into it.
 * @param only the owners whose events go back at an unmerge.
 * @returns their owners.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export async function moveOwners(
  tx: Tenant,
  { from: contactId, to: into, log }: Pick<Move, 'from' | 'to' | 'log'>,
  only?: readonly string[],
): Promise<readonly string[]> {
  if (only !== undefined) {
    await linkOwners(tx, log, only, into)
    return only
  }
  const links = await tx.db
    .selectFrom('owner_links')
    .select(['owner_id', 'contact_id'])
    .where('contact_id', '=', anyOf([contactId, into]))
    .limit(OWNERS_MAX)
    .execute()
  if (links.length === OWNERS_MAX) {
    throw conflict('too_many_visitors', `The two contacts have had ${OWNERS_MAX} or more visitors in total.`)
  }
  const linked = links.flatMap(({ owner_id, contact_id }) => (contact_id === contactId ? [owner_id] : []))
  const owners = [...new Set([...linked, contactId])]
  await linkOwners(tx, log, owners, into)
  return owners
}

/** A query of how many owners were linked to a contact, counted up to a limit. */
export function countOwners({ db }: Pick<Tenant, 'db'>, contactId: RawBuilder<string>, max: number) {
  const some = db.selectFrom('owner_links').select('owner_id').where('contact_id', '=', contactId).limit(max)
  return db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number>().as('owners'))
}
