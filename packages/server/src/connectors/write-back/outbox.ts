import { sql } from 'kysely'
import { knownContacts } from '../../contacts/read.ts'
import type { ContactChanges, Outbox } from '../../contacts/writing/transaction.ts'
import type { Invalidation } from '../../platform/postgres/invalidation.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { settingsOf } from './write-back.ts'

/** A connection with write-back, and the changes that it needs. */
interface Writing {
  connectionId: string
  keys: ReadonlySet<string>
}

/** The maximum number of tenants in the cache. */
const CACHED_MAX = 10_000

/** Creates the outbox of changed contacts. */
export function createOutbox(invalidation: Pick<Invalidation, 'listening' | 'onChange'>, now: () => Date): Outbox {
  const connectionsOf = cacheConnections(invalidation)
  return {
    note: async (tx, changed) => {
      if (changed.size === 0) return
      for (const { connectionId, keys } of await connectionsOf(tx)) {
        await note(tx, connectionId, contactsWith(changed, keys), now())
      }
    },
  }
}

/**
 * Caches which connections write back, until any tenant's connections change, so tenants without write-back pay nothing. It
 * uses the caller's database connection, because waiting for a second one could cause a deadlock.
 */
function cacheConnections(invalidation: Pick<Invalidation, 'listening' | 'onChange'>) {
  let known = new Map<string, readonly Writing[]>()
  invalidation.onChange(() => {
    known = new Map()
  })
  return async (tx: Tenant): Promise<readonly Writing[]> => {
    const current = known
    const remembered = current.get(tx.id)
    if (remembered) return remembered
    const found = await writingConnections(tx)
    // If the map was replaced, this entry is discarded with it.
    if (invalidation.listening && current.size < CACHED_MAX) current.set(tx.id, found)
    return found
  }
}

async function writingConnections(tenant: Tenant): Promise<Writing[]> {
  const rows = await tenant.db
    .selectFrom('connections')
    .select(['connection_id', 'write_back'])
    .where('write_back', 'is not', null)
    .orderBy('connection_id')
    .execute()
  return rows.map((row) => {
    const settings = settingsOf(row)
    const properties = settings?.properties.map(({ property }) => property) ?? []
    // A contact that gets an email can be created in the system.
    return {
      connectionId: row.connection_id,
      keys: new Set([...properties, ...(settings?.create_missing ? ['email'] : [])]),
    }
  })
}

function contactsWith(changes: ContactChanges, keys: ReadonlySet<string>): string[] {
  return [...changes].flatMap(([contactId, changed]) =>
    changed === 'everything' || !keys.isDisjointFrom(changed) ? [contactId] : [],
  )
}

/** The caller's transaction has locked the contacts. Contacts that it deletes are left out. */
async function note(tx: Tenant, connectionId: string, changed: readonly string[], now: Date): Promise<void> {
  if (changed.length === 0) return
  const contactIds = [...(await knownContacts(tx, changed))].sort()
  if (contactIds.length === 0) return
  // The connection may have been deleted since it was cached. Its key is locked, so it exists until the commit.
  const connection = await tx.db
    .selectFrom('connections')
    .select('connection_id')
    .where('connection_id', '=', connectionId)
    .where('write_back', 'is not', null)
    .forKeyShare()
    .executeTakeFirst()
  if (!connection) return
  await tx.db
    .insertInto('connection_outbox')
    .values(contactIds.map((contact_id) => ({ connection_id: connectionId, contact_id, next_try_at: now })))
    .onConflict((row) =>
      row.columns(['connection_id', 'contact_id']).doUpdateSet({
        version: sql<number>`connection_outbox.version + 1`,
        failures: 0,
        next_try_at: now,
      }),
    )
    .execute()
}

/** Adds contacts that a person asked for. The caller's transaction has locked them. */
export async function requestContacts(
  tx: Tenant,
  connectionId: string,
  contactIds: readonly string[],
  now: Date,
): Promise<void> {
  if (contactIds.length === 0) return
  const requested = { next_try_at: now, is_requested: true }
  await tx.db
    .insertInto('connection_outbox')
    .values(contactIds.map((contact_id) => ({ connection_id: connectionId, contact_id, ...requested })))
    .onConflict((row) =>
      row.columns(['connection_id', 'contact_id']).doUpdateSet({
        ...requested,
        version: sql<number>`connection_outbox.version + 1`,
        failures: 0,
      }),
    )
    .execute()
}

/** The number of contacts in the outbox, by connection. */
export async function countWaiting(tenant: Tenant, connectionIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tenant.db
    .selectFrom('connection_outbox')
    .select(['connection_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where('connection_id', '=', sql<string>`any(${connectionIds}::uuid[])`)
    .groupBy('connection_id')
    .execute()
  return new Map(rows.map(({ connection_id, count }) => [connection_id, Number(count)]))
}

/** A contact in the outbox. */
export interface Waiting {
  contactId: string
  version: number
  failures: number
  isRequested: boolean
}

/** The due contacts of a connection, longest due first. */
export async function dueContacts(tenant: Tenant, connectionId: string, limit: number, now: Date): Promise<Waiting[]> {
  const rows = await tenant.db
    .selectFrom('connection_outbox')
    .select(['contact_id', 'version', 'failures', 'is_requested'])
    .where('connection_id', '=', connectionId)
    .where('next_try_at', '<=', now)
    .orderBy('next_try_at')
    .orderBy('contact_id')
    .limit(limit)
    .execute()
  return rows.map(({ contact_id, is_requested, ...row }) => ({
    ...row,
    contactId: contact_id,
    isRequested: is_requested,
  }))
}

/** Removes contacts from the outbox, unless they have changed again. */
export async function removeWaiting(tx: Tenant, connectionId: string, done: readonly Waiting[]): Promise<void> {
  for (const { contactId, version } of done) {
    await tx.db
      .deleteFrom('connection_outbox')
      .where('connection_id', '=', connectionId)
      .where('contact_id', '=', contactId)
      .where('version', '=', version)
      .execute()
  }
}

/** Schedules a retry for a contact. */
export async function postpone(
  tx: Tenant,
  connectionId: string,
  { contactId, version }: Waiting,
  failures: number,
  nextTryAt: Date,
): Promise<void> {
  await tx.db
    .updateTable('connection_outbox')
    .set({ failures, next_try_at: nextTryAt })
    .where('connection_id', '=', connectionId)
    .where('contact_id', '=', contactId)
    .where('version', '=', version)
    .execute()
}

/** Empties the outbox of a connection that no longer writes back. */
export async function emptyOutbox(tx: Tenant, connectionId: string): Promise<void> {
  await tx.db.deleteFrom('connection_outbox').where('connection_id', '=', connectionId).execute()
}
