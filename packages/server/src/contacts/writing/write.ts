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

/** A change of contacts. The contacts that it reads are named in advance; the change itself happens in memory. */
export interface Write<Result> {
  keys: WriteKeys
  /** The company that the contact gets. */
  company?: CompanyOfWrite | null
  /** Whether `apply` may create companies. No write with a `company` then follows in its transaction: it would come first. */
  createsCompanies?: boolean
  /** Whether it needs a transaction to itself, because it also changes in the database what a set has read. */
  isAlone?: boolean
  /**
   * Changes the contacts of the set. @throws ServiceError if the write is refused. The set is then as before, but what `apply`
   * wrote with `tx` would stay, so it refuses first.
   */
  apply(set: ContactSet, step: Step): Result | Promise<Result>
  /** Called in the transaction, once the contacts are stored. If it throws, the transaction ends. */
  onStored?(tx: Tenant, result: Result): Promise<void>
}

/** A company that is written before the contacts are locked. */
export interface CompanyOfWrite {
  /** Two transactions write companies in the order of these texts, so that they cannot deadlock. */
  key: string
  /** @param computed its properties that the service computes. @throws ServiceError; then nothing of it is written. */
  write(tx: Tenant, now: Date, computed: ReadonlySet<string>): Promise<WrittenCompany>
}

/** A company that was written, and the keys of it that the write may not change. */
export interface WrittenCompany {
  companyId: string
  ignored: string[]
}

/** A write's turn in its transaction. */
interface Step {
  tx: Tenant
  now: Date
  /** What became of the write's company. */
  company: WrittenCompany | null
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
  const change = async (tx: Tenant, log: ChangeLog) => {
    if (isGroup) await limitLockWaits(tx)
    const now = dependencies.clock()
    const computed = await dependencies.findComputedNames(tx)
    const companies = await writeCompanies(tx, writes, now, computed.companies)
    const set = await openSet(
      tx,
      writes.map(({ keys }) => keys),
    )
    set.computed = computed.contacts
    const results: (Result | ServiceError)[] = []
    let since = performance.now()
    for (const write of writes) {
      const company = companies.get(write) ?? null
      results.push(company instanceof ServiceError ? company : await applyOne(set, write, { tx, now, company }))
      if (performance.now() - since < TURN_MS_MAX) continue
      await endOfTurn()
      since = performance.now()
    }
    await dependencies.enrich(tx, set, now)
    await storeSet(tx, log, set)
    for (const [index, write] of writes.entries()) {
      const result = results[index]
      if (!(result instanceof ServiceError)) await write.onStored?.(tx, result as Result)
    }
    return results
  }
  return changeContacts(tenant, dependencies, change, isGroup ? GROUP_ATTEMPTS : undefined)
}

/** Lets the transaction fail when it has to wait for a lock, so that only the write that needs it waits. */
async function limitLockWaits(tx: Tenant): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${`${GROUP_LOCK_MS}`}, true)`.execute(tx.db)
}

/** @returns the companies of writes, or why one cannot be written. */
async function writeCompanies(tx: Tenant, writes: readonly Write<unknown>[], now: Date, computed: ReadonlySet<string>) {
  const companies = new Map<Write<unknown>, WrittenCompany | ServiceError>()
  const named = writes.flatMap((write) => (write.company ? [{ write, company: write.company }] : []))
  for (const { write, company } of named.toSorted((a, b) => (a.company.key < b.company.key ? -1 : 1))) {
    try {
      companies.set(write, await company.write(tx, now, computed))
    } catch (error) {
      if (!isRefusal(error)) throw error
      companies.set(write, error)
    }
  }
  return companies
}

async function applyOne<Result>(set: ContactSet, write: Write<Result>, step: Step): Promise<Result | ServiceError> {
  const result = await unlessRefused(set, () => write.apply(set, step))
  // Its company must not stay, so the transaction ends, and each write gets one of its own.
  if (result instanceof ServiceError && step.company) throw result
  return result
}

/** Runs a write, or a part of one. @returns its result, or why it was refused; then the set is as before. */
export async function unlessRefused<Result>(
  set: ContactSet,
  work: () => Result | Promise<Result>,
): Promise<Result | ServiceError> {
  const undo = set.mark()
  try {
    return await work()
  } catch (error) {
    if (!isRefusal(error)) throw error
    undo()
    return error
  }
}

/** Whether a write was refused, in contrast to a transaction that failed. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status < 500
}
