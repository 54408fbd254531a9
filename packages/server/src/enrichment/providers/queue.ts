import { sql } from 'kysely'
import type { Outbox } from '../../contacts/writing/transaction.ts'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../../platform/due-rows.ts'
import { type Cleanup, type Repeated, undoAll } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import { ClaimLost, isClaimed, isFree, newClaim, RELEASED, whileClaimed } from '../../platform/postgres/lease.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { type Clock, MINUTE_MS } from '../../platform/time.ts'
import { type Asked, askProviders, type ProviderServices } from './work.ts'

/** The pauses before a contact is asked about again, in minutes. After the last, the failure stands. */
const RETRY_MINUTES = [1, 5, 30, 120, 360]
/** Tenants that are worked for at once: a slow provider of one does not hold up the others. */
const LANES = 4
/** A transaction may change any number of contacts. */
const ROWS_AT_ONCE = 1_000

/** The keys of contacts whose change is a reason to ask. The service caches them. */
export type FindProviderInputs = (tenant: Tenant) => Promise<ReadonlySet<string>>

/** Has providers asked about new contacts, and about those of which something changed that a provider is asked by. */
export function createProviderOutbox(findInputs: FindProviderInputs, clock: Clock): Outbox {
  return {
    note: async (tx, changed) => {
      if (changed.size === 0) return
      const inputs = await findInputs(tx)
      if (inputs.size === 0) return
      const contactIds = [...changed].flatMap(([contactId, keys]) =>
        keys === 'everything' || keys.values().some((key) => inputs.has(key)) ? [contactId] : [],
      )
      await queueContacts(tx, contactIds, clock())
    },
  }
}

/**
 * Has providers asked about contacts.
 * @param dueAt when the workers may take them
 * @param runId the run on whose behalf; null for none.
 */
export async function queueContacts(
  tx: Tenant,
  contactIds: readonly string[],
  dueAt: Date,
  runId: string | null = null,
): Promise<void> {
  // Sorted, so that two transactions cannot deadlock.
  const ids = [...contactIds].sort()
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
    const rows = ids
      .slice(from, from + ROWS_AT_ONCE)
      .map((contact_id) => ({ contact_id, due_at: dueAt, run_id: runId }))
    await tx.db
      .insertInto('enrichment_queue')
      .values(rows)
      .onConflict((row) =>
        row.columns(['contact_id']).doUpdateSet(({ ref }) => ({
          due_at: ref('excluded.due_at'),
          noted: sql<bigint>`enrichment_queue.noted + 1`,
          attempts: 0,
          run_id: sql<string | null>`coalesce(excluded.run_id, enrichment_queue.run_id)`,
        })),
      )
      .execute()
  }
}

/** Has no provider asked on behalf of a run any more. Contacts that something else has changed meanwhile stay. */
export async function forgetRun(tx: Tenant, runId: string): Promise<void> {
  await tx.db.deleteFrom('enrichment_queue').where('run_id', '=', runId).where('noted', '=', sql<never>`0`).execute()
}

/** Whether providers are still to be asked about a contact. */
export async function isQueued(tenant: Tenant, contactId: string): Promise<boolean> {
  const row = await tenant.db
    .selectFrom('enrichment_queue')
    .select('contact_id')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  return row !== undefined
}

interface Claimed {
  claim: string
  contactId: string
  noted: string
  attempts: number
  runId: string | null
}

/** Claims a contact: the one that has been due for longest, or the given one. */
async function claimContact(tenant: Tenant, now: Date, contactId?: string): Promise<Claimed | null> {
  const claim = newId()
  const row = await tenant.db
    .updateTable('enrichment_queue')
    .set(newClaim('enrichment', claim))
    .where('contact_id', '=', (from) => {
      const free = from.selectFrom('enrichment_queue').select('contact_id').where(isFree)
      const chosen =
        contactId === undefined ? free.where('due_at', '<=', now) : free.where('contact_id', '=', contactId)
      return chosen.orderBy('due_at').limit(1).forUpdate().skipLocked()
    })
    .returning(['contact_id', 'attempts', 'run_id', sql<string>`noted::text`.as('noted')])
    .executeTakeFirst()
  if (!row) return null
  const { contact_id, noted, attempts, run_id } = row
  return { claim, contactId: contact_id, noted, attempts, runId: run_id }
}

/** Starts an update of a contact that this process has claimed. */
function whereClaimed(tenant: Tenant, { claim, contactId }: Claimed) {
  return {
    set: (columns: object) =>
      tenant.db
        .updateTable('enrichment_queue')
        .set(columns)
        .where('contact_id', '=', contactId)
        .where(isClaimed(claim)),
  }
}

/** Asks the providers about a claimed contact, and says when it is due again, if it is. */
async function work(tenant: Tenant, services: ProviderServices, claimed: Claimed): Promise<Asked> {
  try {
    const asked = await whileClaimed('enrichment', whereClaimed(tenant, claimed), (lost) =>
      askProviders(tenant, services, claimed, lost),
    )
    await finish(tenant, claimed, asked, services.clock())
    return asked
  } catch (error) {
    if (!(error instanceof ClaimLost)) {
      const now = services.clock()
      await finish(tenant, claimed, { retryAt: now, isOverRate: false }, now)
    }
    throw error
  }
}

/** Ends the work on a contact. A change that came meanwhile makes it due again. */
async function finish(
  tenant: Tenant,
  claimed: Claimed,
  { retryAt, isOverRate }: Pick<Asked, 'retryAt' | 'isOverRate'>,
  now: Date,
): Promise<void> {
  const row = whereClaimed(tenant, claimed)
  const minutes = RETRY_MINUTES[claimed.attempts]
  const again = retryAt === null || (minutes === undefined && !isOverRate) ? null : retryAt
  if (again === null) {
    const { numDeletedRows } = await tenant.db
      .deleteFrom('enrichment_queue')
      .where('contact_id', '=', claimed.contactId)
      .where(isClaimed(claimed.claim))
      .where(sql<boolean>`noted = ${claimed.noted}::bigint`)
      .executeTakeFirst()
    if (numDeletedRows === 0n) await row.set(RELEASED).execute()
    return
  }
  const pauseMs = isOverRate ? 0 : (minutes ?? 0) * MINUTE_MS
  const dueAt = new Date(Math.max(again.getTime(), now.getTime() + pauseMs))
  await row
    .set({
      ...RELEASED,
      due_at: sql`CASE WHEN noted = ${claimed.noted}::bigint OR ${isOverRate} THEN ${dueAt}::timestamptz ELSE due_at END`,
      ...(isOverRate
        ? {}
        : { attempts: sql`CASE WHEN noted = ${claimed.noted}::bigint THEN attempts + 1 ELSE attempts END` }),
    })
    .execute()
}

/**
 * Asks the providers about one contact at once, if no other process is doing so.
 * @returns what became of it; null if another process has it.
 */
export async function askNow(tenant: Tenant, services: ProviderServices, contactId: string): Promise<Asked | null> {
  const claimed = await claimContact(tenant, services.clock(), contactId)
  return claimed && work(tenant, services, claimed)
}

/** Asks providers about the contacts that wait. Several processes may do so at the same time. */
export function startProviderWorkers({
  stores,
  log,
  ...services
}: ProviderServices & { stores: Stores; log: Pick<Logger, 'warn'> }): Repeated {
  const { clock } = services
  const busy = new Set<string>()
  /** Until when each tenant's next provider wants no request, so that its contacts are not tried one after another. */
  const overRate = new Map<string, Date>()

  async function workFor(tenantId: string): Promise<void> {
    if (busy.has(tenantId)) return
    busy.add(tenantId)
    try {
      const tenant = openTenant(stores, tenantId)
      const claimed = await claimContact(tenant, clock())
      if (claimed === null) return
      const { isOverRate, retryAt } = await work(tenant, services, claimed)
      if (isOverRate && retryAt) overRate.set(tenantId, retryAt)
    } finally {
      busy.delete(tenantId)
    }
  }

  const cleanup: Cleanup = Array.from({ length: LANES }, () => {
    const lane = workOnDue({
      readDue: () => {
        const now = clock()
        for (const [tenantId, until] of overRate) if (until <= now) overRate.delete(tenantId)
        return stores.database
          .selectFrom('enrichment_queue')
          .select('tenant_id')
          .distinct()
          .where('due_at', '<=', now)
          .where(isFree)
          .where(isOfOpenTenant(stores))
          .where(sql<boolean>`tenant_id <> ALL(${[...overRate.keys(), ...busy]}::uuid[])`)
          .limit(TENANTS_AT_ONCE)
          .execute()
      },
      work: ({ tenant_id }) => workFor(tenant_id),
      noun: 'asking enrichment providers',
      log,
    })
    return lane.stop
  })
  return { stop: () => undoAll(cleanup) }
}
