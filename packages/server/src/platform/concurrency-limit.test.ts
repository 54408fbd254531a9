import { expect, test } from 'vitest'
import { type ConcurrencyOptions, createConcurrencyLimit, type EnterOptions } from './concurrency-limit.ts'

/** Work that starts once a slot is free and ends on request. */
function startWork(limits: ConcurrencyOptions) {
  const limit = createConcurrencyLimit(limits)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const refused: Record<string, string> = {}
  const run = (name: string, options?: EnterOptions) =>
    limit
      .runWithinLimit(
        name.slice(0, 1),
        async () => {
          started.push(name)
          await new Promise<void>((resolve) => ends.set(name, resolve))
        },
        options,
      )
      .catch((error: { reason: string }) => {
        refused[name] = error.reason
      })
  const end = async (name: string) => {
    const before = started.length
    ends.get(name)?.()
    if (limit.counts().waiting > 0) await expect.poll(() => started.length).toBeGreaterThan(before)
  }
  return { limit, started, refused, run, end }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('concurrency is limited per key and in total; a key at its limit does not block others', async () => {
  const { started, run, end } = startWork({ perKey: 2, inAll: 3 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) run(name)
  await nextTurn()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  await end('b1')
  expect(started).toEqual(['a1', 'a2', 'b1', 'b2'])
  await end('a1')
  expect(started).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
})

test('keys are served round-robin, however much work one of them has waiting', async () => {
  const { started, run, end } = startWork({ perKey: 1, inAll: 1 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) run(name)
  await nextTurn()
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await end(name)
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
})

test('urgent work goes ahead of other work with its key, but not ahead of other keys', async () => {
  const { started, run, end } = startWork({ perKey: 1, inAll: 1 })
  for (const name of ['a1', 'b1', 'a2']) run(name)
  run('a3', { isUrgent: true })
  await nextTurn()
  for (const name of ['a1', 'b1', 'a3']) await end(name)
  expect(started).toEqual(['a1', 'b1', 'a3', 'a2'])
})

test('work with a caller is rejected when too much is waiting; other work is not', async () => {
  const { refused, run, limit } = startWork({ perKey: 1, inAll: 1, waitingPerKey: 1, waitingInAll: 2 })
  const caller = new AbortController().signal
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) run(name, { caller })
  run('a4')
  await nextTurn()
  expect(refused).toEqual({ a3: 'key_is_full', c1: 'all_is_full' })
  expect(limit.counts()).toMatchObject({ running: 1, waiting: 3, refused: 2 })
})

test('a caller that aborts leaves the queue', async () => {
  const { started, refused, run, end, limit } = startWork({ perKey: 1, inAll: 1 })
  const leaving = new AbortController()
  run('a1')
  run('a2', { caller: leaving.signal })
  run('a3')
  await nextTurn()
  leaving.abort()
  await nextTurn()
  expect(limit.counts().waiting).toBe(1)
  await end('a1')
  expect([started, refused]).toEqual([['a1', 'a3'], { a2: 'caller_left' }])
  run('a4', { caller: leaving.signal })
  await expect.poll(() => refused).toEqual({ a2: 'caller_left', a4: 'caller_left' })
})

test('a caller waits no longer than the limit', async () => {
  const { refused, run } = startWork({ perKey: 1, inAll: 1, waitMsMax: 1 })
  run('a1')
  run('a2', { caller: new AbortController().signal })
  await expect.poll(() => refused).toEqual({ a2: 'waited_too_long' })
})

test('failed work releases its slot', async () => {
  const { runWithinLimit } = createConcurrencyLimit({ perKey: 1, inAll: 1 })
  await expect(runWithinLimit('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await runWithinLimit('a', async () => 'yes')).toBe('yes')
})
