import { sql } from 'kysely'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { createTurns } from '../platform/turns.ts'
import type { SeenNetworks } from './seen-networks.ts'

/** A page's request to recover its visitor, because the cookie is gone. */
export interface RecoveryRequest {
  /** SHA-256 in hexadecimal. */
  fingerprint: string
  /** The id that the page proposes for a new visitor; undefined: the service creates one. */
  visitorId: string | undefined
  address: string
}

/** Requests for the same fingerprint wait here, without holding a connection. */
const { takeTurn } = createTurns({ perKey: 1, inAll: 4 })

/**
 * The visitor of a device fingerprint. A fingerprint that is seen for the first time is registered. Devices of one make
 * have the same, and anyone can register one that is not theirs: so an identified visitor is handed out only where it was
 * seen, and a fingerprint that turns up elsewhere is two visitors', of whom it recovers neither from then on.
 *
 * The same statements run whatever is known of the fingerprint, so neither the answer nor its timing reveals it.
 */
export async function recoverVisitor(
  tenant: Tenant,
  seenNetworks: SeenNetworks,
  { fingerprint, visitorId, address }: RecoveryRequest,
  now: Date,
): Promise<{ visitor_id: string; recovered: boolean }> {
  const bytes = Buffer.from(fingerprint, 'hex')
  const candidate = visitorId ?? newId()
  const transaction = async (tx: Tenant) => {
    const { visitor_id: known, is_new } = await tx.db
      .insertInto('fingerprints')
      .values({ fingerprint: bytes, visitor_id: candidate, created_at: now, seen_at: now })
      .onConflict((row) => row.columns(['fingerprint']).doUpdateSet({ seen_at: now }))
      .returning(['visitor_id', sql<boolean>`(xmax = 0)`.as('is_new')])
      .executeTakeFirstOrThrow()
    const asked = known ?? candidate
    const visitor = await tx.db
      .selectFrom('visitors')
      .select(['contact_id', 'external_contact_id'])
      .where('visitor_id', '=', asked)
      .executeTakeFirst()
    const wasSeenHere = await seenNetworks.wasSeenFrom(tx, asked, address)
    // One that has said whose it is will be that contact's as soon as there is one.
    const isSomebodys = (visitor?.contact_id ?? visitor?.external_contact_id ?? null) !== null
    const mayHave = known !== null && (!isSomebodys || wasSeenHere)
    const keeps = mayHave || known === candidate ? known : null
    await tx.db.updateTable('fingerprints').set({ visitor_id: keeps }).where('fingerprint', '=', bytes).execute()
    return mayHave ? { visitor_id: known, recovered: !is_new } : { visitor_id: candidate, recovered: false }
  }
  return takeTurn(`${tenant.id}/${fingerprint.toLowerCase()}`, () => tenant.transaction(transaction))
}
