import { setImmediate as endOfTurn } from 'node:timers/promises'
import { ServiceError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { asUnavailable } from '../../platform/postgres/unavailable.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { WriteDependencies } from './transaction.ts'
import { isRefusal, type Write, writeTogether } from './write.ts'

/** Writes per transaction: more would delay the first one, fewer would waste commits. */
const GROUP_MAX = 100
/** Keys of the writes of a transaction: the records of a large push would delay those that share it. */
const GROUP_KEYS_MAX = 500
/** Transactions of a tenant at the same time. */
const GROUPS_MAX = 4
const STATEMENT_TIMEOUT = '57014'

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
  keys: readonly string[]
  /** It needs a transaction to itself, or has been part of a group that failed. */
  isAlone: boolean
  write: Write<unknown>
  settle(result: unknown): void
  reject(error: unknown): void
}

type Group = readonly Waiting[]

/** The writes of a tenant. */
interface Line {
  waiting: Waiting[]
  /** Those that run. */
  groups: Set<Group>
  /** The keys of the groups that run; no two have one in common. */
  busy: Set<string>
  isStarting: boolean
}

/**
 * Lets writes of one tenant share a transaction. There is no timer: a write starts at once if none of its tenant is running,
 * and what arrives meanwhile shares the next transaction. Writes with a key in common are applied in the order of arrival.
 */
export function createWriter(dependencies: WriteDependencies): Writer {
  const lines = new Map<string, Line>()

  async function start(tenantId: string, line: Line): Promise<void> {
    if (line.isStarting) return
    line.isStarting = true
    // Requests that have arrived together are read in the same turn of the event loop.
    await endOfTurn()
    line.isStarting = false
    while (isWorthAnother(line)) {
      const group = takeGroup(line)
      if (group.length === 0) break
      line.groups.add(group)
      void run(group, line).then(() => {
        line.groups.delete(group)
        for (const { keys } of group) for (const key of keys) line.busy.delete(key)
        void start(tenantId, line)
      })
    }
    if (line.waiting.length === 0 && line.groups.size === 0) lines.delete(tenantId)
  }

  async function run(group: Group, line: Line): Promise<void> {
    const [first] = group
    if (!first) return
    const isAlone = group.length === 1
    try {
      const writes = group.map(({ write }) => write)
      const results = await writeTogether(first.tenant, dependencies, writes, { isGroup: !isAlone })
      for (const [index, { settle }] of group.entries()) settle(results[index])
    } catch (error) {
      if (isAlone && isRefusal(error)) first.settle(error)
      else if (isAlone || isUnavailable(error)) for (const { reject } of group) reject(error)
      // A write that the database rejects, that always collides, or that waits for a lock must not affect the others.
      else line.waiting.unshift(...group.map((each) => ({ ...each, isAlone: true })))
    }
  }

  function submit<Result>(
    tenant: Tenant,
    write: Write<Result>,
    together: readonly string[],
  ): Promise<Result | ServiceError> {
    const { promise, resolve, reject } = Promise.withResolvers<Result | ServiceError>()
    const line = lines.get(tenant.id) ?? { waiting: [], groups: new Set(), busy: new Set(), isStarting: false }
    lines.set(tenant.id, line)
    line.waiting.push({
      tenant,
      write,
      keys: [...keysOf(write), ...together],
      isAlone: write.isAlone === true,
      settle: (result) => resolve(result as Result),
      reject,
    })
    void start(tenant.id, line)
    return promise
  }

  async function writeEach<Result>(
    tenant: Tenant,
    writes: readonly Write<Result>[],
  ): Promise<(Result | ServiceError)[]> {
    if (tenant.isTransaction) return writeTogether(tenant, dependencies, writes, { isGroup: false })
    // Writes of one request may name a contact by different keys. With one in common, they keep their order.
    const together = writes.length > 1 ? [`request ${newId()}`] : []
    return Promise.all(writes.map((write) => submit(tenant, write, together)))
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

/** Whether waiting writes get another transaction: with as many as the running ones have, it costs no more for each. */
function isWorthAnother({ waiting, groups }: Line): boolean {
  const least = Math.max(1, ...[...groups].map(({ length }) => length))
  return groups.size < GROUPS_MAX && waiting.length >= least
}

/** The next writes that have no key in common with those that run, nor with one that has to wait longer. */
function takeGroup({ waiting, busy }: Line): Group {
  const group: Waiting[] = []
  const rest: Waiting[] = []
  const behind = new Set<string>()
  let keyCount = 0
  for (const each of waiting) {
    const isFree = mayJoin(group, keyCount, each) && !each.keys.some((key) => busy.has(key) || behind.has(key))
    if (isFree) {
      group.push(each)
      keyCount += each.keys.length
    } else {
      rest.push(each)
      for (const key of each.keys) behind.add(key)
    }
  }
  waiting.splice(0, waiting.length, ...rest)
  for (const { keys } of group) for (const key of keys) busy.add(key)
  return group
}

function mayJoin(group: Group, keyCount: number, { keys, isAlone, write }: Waiting): boolean {
  const [first] = group
  if (!first) return true
  if (isAlone || first.isAlone || group.length >= GROUP_MAX || keyCount + keys.length > GROUP_KEYS_MAX) return false
  // Its company is written before any write is applied.
  return !write.company || !group.some((other) => other.write.createsCompanies)
}

/** The keys of a write, with that of the company that it writes. */
function keysOf({ keys, company }: Write<unknown>): string[] {
  const { contactIds = [], emails = [], externalIds = [], ofSource, visitorIds = [] } = keys
  return [
    ...contactIds.map((id) => `contact ${id}`),
    ...emails.map((email) => `email ${email}`),
    ...externalIds.map((id) => `user ${id}`),
    ...(ofSource?.externalIds ?? []).map((id) => `${ofSource?.source} ${id}`),
    ...visitorIds.map((id) => `visitor ${id}`),
    ...(company ? [`company ${company.key}`] : []),
  ]
}

/** Whether PostgreSQL is down: then single writes would fail too, each after its own time limit. */
function isUnavailable(error: unknown): boolean {
  if ((error as { code?: string }).code === STATEMENT_TIMEOUT) return false
  const unavailable = asUnavailable(error)
  return unavailable !== null && unavailable.code !== 'overloaded'
}
