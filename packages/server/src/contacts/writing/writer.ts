import { setImmediate as endOfTurn } from 'node:timers/promises'
import { ServiceError } from '../../platform/errors.ts'
import { asUnavailable } from '../../platform/postgres/unavailable.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ContactSet } from './contact-set.ts'
import { openSet, type WriteKeys } from './keys.ts'
import { storeSet } from './store.ts'
import { changeContacts, type WriteDependencies } from './transaction.ts'
import { registerVisitors } from './visitor-rows.ts'

/** Writes per transaction: more would delay the first one, fewer would waste commits. */
const GROUP_MAX = 100
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

/** Writes contacts, many at a time. */
export interface Writer {
  /** Resolves once the write is committed. @throws ServiceError; then nothing was written. */
  write<Result>(tenant: Tenant, write: Write<Result>): Promise<Result>
  /** The same for several writes, in their order. One that fails does not affect the others. */
  writeEach<Result>(tenant: Tenant, writes: readonly Write<Result>[]): Promise<(Result | ServiceError)[]>
}

export interface WriteServices extends WriteDependencies {
  writer: Writer
}

interface Waiting {
  tenant: Tenant
  write: Write<unknown>
  settle(result: unknown): void
  reject(error: unknown): void
}

/**
 * Lets writes of one tenant share a transaction. There is no timer: a write starts at once if none of its tenant is running,
 * and what arrives meanwhile shares the next transaction. Writes are applied in the order of arrival.
 */
export function createWriter(dependencies: WriteDependencies): Writer {
  const lines = new Map<string, Waiting[]>()

  async function work(tenantId: string, line: Waiting[]): Promise<void> {
    while (line.length > 0) {
      // Requests that have arrived together are read in the same turn of the event loop.
      await endOfTurn()
      await run(line.splice(0, GROUP_MAX))
    }
    lines.delete(tenantId)
  }

  async function run(group: readonly Waiting[]): Promise<void> {
    const [first] = group
    if (!first) return
    const isAlone = group.length === 1
    try {
      const writes = group.map(({ write }) => write)
      const results = await writeGroup(first.tenant, dependencies, writes, isAlone ? undefined : GROUP_ATTEMPTS)
      for (const [index, { settle }] of group.entries()) settle(results[index])
    } catch (error) {
      if (isAlone && isRefusal(error)) first.settle(error)
      else if (isAlone || isUnavailable(error)) for (const { reject } of group) reject(error)
      // A write that the database rejects, or that always collides, must not fail the others.
      else for (const single of group) await run([single])
    }
  }

  function submit<Result>(tenant: Tenant, write: Write<Result>): Promise<Result | ServiceError> {
    const { promise, resolve, reject } = Promise.withResolvers<Result | ServiceError>()
    const waiting: Waiting = { tenant, write, settle: (result) => resolve(result as Result), reject }
    const line = lines.get(tenant.id)
    if (line) line.push(waiting)
    else {
      const started = [waiting]
      lines.set(tenant.id, started)
      void work(tenant.id, started)
    }
    return promise
  }

  async function writeEach<Result>(
    tenant: Tenant,
    writes: readonly Write<Result>[],
  ): Promise<(Result | ServiceError)[]> {
    if (tenant.isTransaction) return writeGroup(tenant, dependencies, writes)
    return Promise.all(writes.map((write) => submit(tenant, write)))
  }

  return {
    writeEach,
    write: async <Result>(tenant: Tenant, write: Write<Result>) => {
      const [result] = await writeEach(tenant, [write])
      if (result instanceof ServiceError) throw result
      return result as Result
    },
  }
}

/** Whether PostgreSQL is down: then single writes would fail too, each after its own time limit. */
function isUnavailable(error: unknown): boolean {
  const unavailable = asUnavailable(error)
  return unavailable !== null && unavailable.code !== 'overloaded'
}

/** @returns the result of each write, or why it failed. */
async function writeGroup<Result>(
  tenant: Tenant,
  dependencies: WriteDependencies,
  writes: readonly Write<Result>[],
  attempts?: number,
): Promise<(Result | ServiceError)[]> {
  const visitorIds = writes.flatMap(({ keys }) => keys.visitorIds ?? [])
  await registerVisitors(tenant.outside, visitorIds, dependencies.clock())
  const inTransaction = async (tx: Tenant, log: Parameters<typeof storeSet>[1]) => {
    const now = dependencies.clock()
    const failed = await writeCompanies(tx, writes, now)
    const set = await openSet(
      tx,
      writes.map(({ keys }) => keys),
    )
    const results = writes.map((write) => failed.get(write) ?? applyOne(set, write, now))
    await storeSet(tx, log, set)
    return results
  }
  return changeContacts(tenant, dependencies, inTransaction, attempts)
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

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status < 500
}
