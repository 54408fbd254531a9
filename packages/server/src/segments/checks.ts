import { sql } from 'kysely'
import { takeChanges, tenantsWithChanges } from '../companies/changes.ts'
import { lockUnlessBusy } from '../contacts/locks.ts'
import { contactsOfCompanies } from '../contacts/of-companies.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { toRecords } from '../journal/append.ts'
import type { EventGroup } from '../journal/event-record.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { every } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { isBeingWorkedOn } from '../platform/postgres/lease.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { queueChecks, queueChecksAfter, queueCompanyChecks } from './check-queue.ts'
import { type Definitions, usesEvents } from './definitions.ts'
import { followEvents, queryConditions } from './follow.ts'

const EVERY_MS = 500
const CONTACTS_AT_ONCE = 200
const COMPANIES_AT_ONCE = 100
const TENANTS_AT_ONCE = 100
/** Delay after a failure, so that a database that is down is not queried twice a second. */
const PAUSE_MS = 3_000
const REPEAT_MAX_SECONDS = 60
/** Contacts that may wait in memory while PostgreSQL is down; the regular evaluation covers dropped ones. */
const PENDING_MAX = 200_000

export interface WatchDependencies {
  stores: Stores
  definitions: Definitions
  clock: Clock
  log: Logger
  append: WriteDependencies['append']
}

/** Checks contacts whose events have changed. */
export interface Checks {
  /** Cheap, and never throws. */
  onRecorded(groups: readonly EventGroup[]): void
  stop(): Promise<void>
}

/** Starts the checks: noted contacts are queued in PostgreSQL, and any process may check queued contacts. */
export function startChecks({ stores, definitions, clock, log, append }: WatchDependencies): Checks {
  let pending = new Map<string, Set<string>>()
  let pendingCount = 0
  let resumeAt = 0
  const paused = new Map<string, number>()

  function note(tenantId: string, contactId: string): void {
    const contacts = pending.get(tenantId) ?? new Set<string>()
    pending.set(tenantId, contacts)
    if (contacts.has(contactId) || pendingCount >= PENDING_MAX) return
    contacts.add(contactId)
    pendingCount++
  }

  async function queuePending(): Promise<void> {
    const noted = pending
    pending = new Map()
    pendingCount = 0
    for (const [tenantId, contacts] of noted) {
      // The evaluation after it is reopened covers them.
      if (stores.closed.has(tenantId)) continue
      try {
        const tenant = openTenant(stores, tenantId)
        const known = await definitions.of(tenant)
        if (known.contacts.some(usesEvents)) await queueChecks(tenant, contacts)
        if (known.companies.some(usesEvents)) await queueCompanyChecks(tenant, contacts)
      } catch (error) {
        for (const contactId of contacts) note(tenantId, contactId)
        throw error
      }
    }
  }

  /** Has the contacts of companies that have changed checked. */
  async function queueContactsOfCompanies(): Promise<void> {
    for (const tenantId of await tenantsWithChanges(stores, TENANTS_AT_ONCE)) {
      const tenant = openTenant(stores, tenantId)
      while ((await queueSome(tenant)) === COMPANIES_AT_ONCE);
    }
  }

  async function queueSome(tenant: Tenant): Promise<number> {
    return tenant.transaction(async (tx) => {
      const known = await definitions.of(tx)
      const companyIds = await takeChanges(tx, COMPANIES_AT_ONCE)
      if (known.contacts.some((each) => each.usesCompany))
        await queueChecks(tx, await contactsOfCompanies(tx, companyIds))
      return companyIds.length
    })
  }

  async function processQueue(): Promise<void> {
    const tenants = await stores.database
      .selectFrom('segment_checks')
      .select('tenant_id')
      .distinct()
      .where('not_before', '<=', sql<Date>`now()`)
      .where(sql<boolean>`tenant_id <> ALL(${pausedTenants()}::uuid[])`)
      .where(isOfOpenTenant(stores))
      .limit(TENANTS_AT_ONCE)
      .execute()
    for (const { tenant_id } of tenants) {
      try {
        while ((await checkSome(openTenant(stores, tenant_id))) === CONTACTS_AT_ONCE);
      } catch (error) {
        // A problem with one tenant's data must not delay the others; a database that is down delays all anyway.
        paused.set(tenant_id, Date.now() + PAUSE_MS)
        log.warn({ err: error, tenant_id }, 'segments could not be updated after events; retrying shortly')
      }
    }
  }

  /** Tenants whose checks have just failed. */
  function pausedTenants(): string[] {
    for (const [tenantId, until] of paused) if (until <= Date.now()) paused.delete(tenantId)
    return [...paused.keys()]
  }

  /**
   * Writes memberships, their events, and the end of the checks in one transaction. @returns how many checks were due.
   */
  async function checkSome(tenant: Tenant): Promise<number> {
    return tenant.transaction(async (tx) => {
      // Locked before any check, in the same order as changes of contacts do.
      const known = await definitions.of(tx)
      const due = await lockDue(tx)
      if (due.length === 0) return 0
      // Before the contacts are locked, so that a write to one does not wait for ClickHouse. A write that gives a contact
      // other events queues its check, and waits for the row that this check has locked: the results stay current.
      const results = await queryConditions(tx, known.contacts, due, clock())
      // Contacts that are being changed are left for later, so that a check never waits while it has locks.
      const { locked, busy } = await lockUnlessBusy(tx, due)
      const evaluating = await isEvaluating(tx)
      const events = await followEvents(tx, known.contacts, locked, results, clock())
      await append(tx, toRecords(tx.id, events), [])
      await finishOrRepeat(tx, due, busy, evaluating)
      await queueChecksAfter(tx, known, events)
      return due.length
    })
  }

  const working = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      await queuePending()
      await queueContactsOfCompanies()
      await processQueue()
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'segments could not be updated after events; retrying shortly')
    }
  })

  return {
    onRecorded: (groups) => {
      for (const { tenantId, events } of groups) {
        for (const { owner_id, is_anonymous } of events) if (!is_anonymous) note(tenantId, owner_id)
      }
    },
    stop: async () => {
      await working.stop()
      await queuePending().catch((error) =>
        log.warn({ err: error }, 'contacts to be checked for segments were dropped'),
      )
    },
  }
}

async function lockDue(tx: Tenant): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('segment_checks')
    .select('contact_id')
    .where('not_before', '<=', sql<Date>`now()`)
    .orderBy('not_before')
    .limit(CONTACTS_AT_ONCE)
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => row.contact_id)
}

/**
 * Whether a whole segment is being evaluated, which may overwrite this check's results with older ones from
 * ClickHouse.
 */
async function isEvaluating(tx: Tenant): Promise<boolean> {
  const underWay = await tx.db
    .selectFrom('segments')
    .select('segment_id')
    .where('uses_events', '=', true)
    .where('entity', '=', 'contacts')
    .where(isBeingWorkedOn)
    .limit(1)
    .executeTakeFirst()
  return underWay !== undefined
}

/** A check of a contact that was being changed, or during an evaluation, is repeated with growing delays. */
async function finishOrRepeat(
  tx: Tenant,
  due: readonly string[],
  busy: readonly string[],
  evaluating: boolean,
): Promise<void> {
  const done = evaluating ? [] : due.filter((contactId) => !busy.includes(contactId))
  if (done.length > 0) await tx.db.deleteFrom('segment_checks').where('contact_id', 'in', done).execute()
  const left = due.filter((contactId) => !done.includes(contactId))
  if (left.length === 0) return
  await tx.db
    .updateTable('segment_checks')
    .set({
      not_before: sql`now() + least(greatest(now() - requested_at, interval '1 second'),
        make_interval(secs => ${REPEAT_MAX_SECONDS}))`,
      checked_at: sql`CASE WHEN contact_id = ANY(${busy}::uuid[]) THEN checked_at ELSE clock_timestamp() END`,
    })
    .where('contact_id', 'in', left)
    .execute()
}
