import { sql } from 'kysely'
import { belongsToContact, isKnownVisitor } from '../contacts/visitors/identified.ts'
import { createConcurrencyLimit } from '../platform/concurrency-limit.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { SeenNetworks } from './seen-networks.ts'

/** A page's request to recover its visitor after the cookie was lost. */
export interface RecoveryRequest {
  /** SHA-256 in hexadecimal. */
  fingerprint: string
  /** The id that the page proposes for a new visitor; null: the service generates one. */
  visitorId: string | null
  address: string
}

/** Requests for the same fingerprint wait here, without occupying a connection. */
const { runWithinLimit } = createConcurrencyLimit({ perKey: 1, inAll: 4 })

/**
 * The visitor of a device fingerprint. A new fingerprint is registered. Identical devices share one, and anyone can
 * register another's: so an identified visitor is recovered only from a network where it was seen. A fingerprint that
 * appears elsewhere, or that another known visitor sends, belongs to two visitors, and recovers neither from then on. A
 * device that has lost its cookie sends an id that it has just generated, which nobody knows.
 *
 * The same statements run in every case, so neither the response nor its timing reveals whether the fingerprint is
 * known.
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
    const checkedId = known ?? candidate
    const isIdentified = await belongsToContact(tx, checkedId)
    const wasSeenHere = await seenNetworks.wasSeenFrom(tx, checkedId, address)
    const isKnown = await isKnownElsewhere(tx, candidate, bytes)
    const isOther = isKnown && known !== candidate
    const isRecovered = known !== null && !isOther && (!isIdentified || wasSeenHere)
    const storedId = isRecovered || known === candidate ? known : null
    await tx.db.updateTable('fingerprints').set({ visitor_id: storedId }).where('fingerprint', '=', bytes).execute()
    return isRecovered ? { visitor_id: known, recovered: !is_new } : { visitor_id: candidate, recovered: false }
  }
  return runWithinLimit(`${tenant.id}/${fingerprint.toLowerCase()}`, () => tenant.transaction(transaction))
}

/** Whether a visitor is known by its events or its contact, or by another fingerprint. */
async function isKnownElsewhere(tx: Tenant, visitorId: string, fingerprint: Buffer): Promise<boolean> {
  const registered = await tx.db
    .selectFrom('fingerprints')
    .select('visitor_id')
    .where('visitor_id', '=', visitorId)
    .where('fingerprint', '!=', fingerprint)
    .limit(1)
    .executeTakeFirst()
  const isKnown = await isKnownVisitor(tx, visitorId)
  return isKnown || registered !== undefined
}
