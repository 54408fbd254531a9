import { setImmediate as endOfTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ContactSet } from './contact-set.ts'
import { openSet, type WriteKeys } from './keys.ts'
import { storeSet } from './store.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from './transaction.ts'
import { registerVisitors } from './visitor-rows.ts'

/** How long writes of a group may keep the event loop; a large contact takes milliseconds. */
const TURN_MS_MAX = 20
/** How long a group waits for a lock of another transaction, before each of its writes gets a transaction of its own. */
const GROUP_LOCK_MS = 50
/** Of a group. After these, its writes run one by one. */
const GROUP_ATTEMPTS = 3

/** A change of contacts. What it reads is named in advance; the change itself happens in memory. */
export interface Write<Result> {
  keys: WriteKeys
  /** The company that the contact gets, which is written before the contacts are locked. */
  company?: {
    /** Two transactions write companies in the order of these texts, so that they cannot deadlock. */
    key: string
    /** It is only kept from being deleted, so that nothing has to be undone if the write fails. */
    isOnlyKept?: boolean
    /** @throws ServiceError; then nothing of it is written. */
    write(tx: Tenant, now: Date): Promise<void>
  }
  /** Changes the contacts of the set. @throws ServiceError: then it has changed nothing. */
  apply(set: ContactSet, now: Date): Result
}

/**
 * Runs writes in one transaction, in their order.
 * @param isGroup whether each can have a transaction of its own instead. Then this one fails rather than wait for locks or
 * collide again and again, which would hold up writes that have nothing to do with it.
 * @returns the result of each write, or why it failed.
 */
export async function writeTogether<Result>(
  tenant: Tenant,
  dependencies: WriteDependencies,
  writes: readonly Write<Result>[],
  { isGroup }: { isGroup: boolean },
): Promise<(Result | ServiceError)[]> {
  const visitorIds = writes.flatMap(({ keys }) => keys.visitorIds ?? [])
  await registerVisitors(tenant, visitorIds, dependencies.clock())
  const isKept = ({ company }: Write<Result>) => company?.isOnlyKept === true
  const change = async (tx: Tenant, log: ChangeLog) => {
    if (isGroup) await limitLockWaits(tx)
    const now = dependencies.clock()
    const failed = await writeCompanies(
      tx,
      writes.filter((write) => !isKept(write)),
      now,
    )
    const set = await openSet(
      tx,
      writes.map(({ keys }) => keys),
    )
    // After the contacts, like everyone who only refers to companies.
    for (const [write, error] of await writeCompanies(tx, writes.filter(isKept), now)) failed.set(write, error)
    const results: (Result | ServiceError)[] = []
    let since = performance.now()
    for (const write of writes) {
      results.push(failed.get(write) ?? applyOne(set, write, now))
      if (performance.now() - since < TURN_MS_MAX) continue
      await endOfTurn()
      since = performance.now()
    }
    await storeSet(tx, log, set)
    return results
  }
  return changeContacts(tenant, dependencies, change, isGroup ? GROUP_ATTEMPTS : undefined)
}

/** Lets the transaction fail when it has to wait for a lock, so that only the write that needs it waits. */
async function limitLockWaits(tx: Tenant): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${`${GROUP_LOCK_MS}`}, true)`.execute(tx.db)
}

/** @returns the writes whose company cannot be written, with the reason. */
async function writeCompanies(tx: Tenant, writes: readonly Write<unknown>[], now: Date) {
  const failed = new Map<Write<unknown>, ServiceError>()
  const named = writes.filter(({ company }) => company)
  for (const write of named.toSorted((a, b) => ((a.company?.key ?? '') < (b.company?.key ?? '') ? -1 : 1))) {
    try {
      await write.company?.write(tx, now)
    } catch (error) {
      if (!isRefusal(error)) throw error
      failed.set(write, error)
    }
  }
  return failed
}

function applyOne<Result>(set: ContactSet, write: Write<Result>, now: Date): Result | ServiceError {
  try {
    return set.attempt(() => write.apply(set, now))
  } catch (error) {
    // Its company must not stay, so the transaction ends, and each write gets one of its own.
    if (!isRefusal(error) || (write.company && !write.company.isOnlyKept)) throw error
    return error
  }
}

/** Whether a write was refused, in contrast to a transaction that failed. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status < 500
}
