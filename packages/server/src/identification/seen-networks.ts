import { sql } from 'kysely'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { networkOf, SITE } from '../platform/http/networks.ts'
import type { Logger } from '../platform/log.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, DAY_MS } from '../platform/time.ts'

/** How long a visitor can be recovered from a network after it was last seen there. */
export const NETWORK_DAYS = 30
const WRITTEN_EVERY_MS = DAY_MS
const CACHED_MAX = 100_000

/** The networks that visitors were seen from, stored only as keyed hashes. */
export interface SeenNetworks {
  /** Records that a visitor was seen from an address; resolves once it is stored. Never rejects. */
  note(tenant: Tenant, visitorId: string, address: string): Promise<void>
  /** Whether a visitor was seen from the network of an address within 30 days. */
  wasSeenFrom(tenant: Tenant, visitorId: string, address: string): Promise<boolean>
}

interface Row {
  visitor_id: string
  network: Buffer
  seen_at: Date
}

/** The next write of a tenant's networks, which requests share that arrive while another one runs. */
interface PendingWrite {
  /** By cache key. */
  rows: Map<string, Row>
  done: Promise<void>
}

export function createSeenNetworks({
  secrets,
  clock,
  log,
}: {
  secrets: Pick<SecretBox, 'digests'>
  clock: Clock
  log: Logger
}): SeenNetworks {
  /** When each network was last stored, so that a visitor's later requests neither hash nor write. */
  const written = new Map<string, number>()
  const waiting = new Map<string, PendingWrite>()
  const running = new Map<string, Promise<void>>()

  /** The hash with the first key comes first. Without a key there are none, and no identified visitor is recovered. */
  function hashesOf(tenantId: string, visitorId: string, network: string): Buffer[] {
    return secrets.digests(network, `visitor_networks/${tenantId}/${visitorId}`)
  }

  function pendingWriteOf(tenant: Tenant): PendingWrite {
    const known = waiting.get(tenant.id)
    if (known) return known
    const rows: PendingWrite['rows'] = new Map()
    const before = running.get(tenant.id) ?? Promise.resolve()
    const done = before.then(async () => {
      waiting.delete(tenant.id)
      await write(tenant, rows)
    })
    const stored = done.catch((error: unknown) =>
      log.warn({ err: error }, 'the networks of some visitors could not be stored'),
    )
    running.set(tenant.id, stored)
    void stored.then(() => {
      if (running.get(tenant.id) === stored) running.delete(tenant.id)
    })
    const pending = { rows, done: stored }
    waiting.set(tenant.id, pending)
    return pending
  }

  async function write(tenant: Tenant, seen: PendingWrite['rows']): Promise<void> {
    // Sorted, so that two processes cannot deadlock.
    const rows = [...seen.values()].sort(
      (a, b) =>
        (a.visitor_id < b.visitor_id ? -1 : Number(a.visitor_id > b.visitor_id)) || a.network.compare(b.network),
    )
    await tenant.db
      .insertInto('visitor_networks')
      .values(rows)
      .onConflict((known) =>
        known.columns(['visitor_id', 'network']).doUpdateSet(({ ref }) => ({ seen_at: ref('excluded.seen_at') })),
      )
      .execute()
    if (written.size + seen.size > CACHED_MAX) written.clear()
    for (const [key, { seen_at }] of seen) written.set(key, seen_at.getTime())
  }

  return {
    note: async (tenant, visitorId, address) => {
      const network = networkOf(address, SITE)
      if (network === null) return
      const now = clock()
      const key = `${tenant.id}/${network}/${visitorId}`
      const known = written.get(key)
      if (known !== undefined && now.getTime() - known < WRITTEN_EVERY_MS) return
      const [hash] = hashesOf(tenant.id, visitorId, network)
      if (!hash) return
      const pending = pendingWriteOf(tenant)
      pending.rows.set(key, { visitor_id: visitorId, network: hash, seen_at: now })
      await pending.done
    },
    wasSeenFrom: async (tenant, visitorId, address) => {
      const network = networkOf(address, SITE)
      if (network === null) return false
      const since = new Date(clock().getTime() - NETWORK_DAYS * DAY_MS)
      const seen = await tenant.db
        .selectFrom('visitor_networks')
        .select('visitor_id')
        .where('visitor_id', '=', visitorId)
        .where(sql<boolean>`network = any(${hashesOf(tenant.id, visitorId, network)}::bytea[])`)
        .where('seen_at', '>', since)
        .executeTakeFirst()
      return seen !== undefined
    },
  }
}
