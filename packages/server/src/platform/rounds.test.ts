import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { inRounds } from './rounds.ts'

test('callers that arrive during a round share the next one', async () => {
  let rounds = 0
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const join = inRounds(async () => {
    const round = rounds++
    await gates[round]?.promise
    return round
  })
  const first = join()
  await Promise.resolve()
  const later = [join(), join(), join()]
  gates[0]?.resolve()
  expect(await first).toBe(0)
  gates[1]?.resolve()
  expect(await Promise.all(later)).toEqual([1, 1, 1])
  expect(rounds).toBe(2)
})

test('a round that fails rejects only its own callers', async () => {
  let rounds = 0
  const join = inRounds(async () => {
    if (rounds++ === 0) throw new Error('the first round')
    return rounds
  })
  await expect(join()).rejects.toThrow('the first round')
  expect(await join()).toBe(2)
})

test('a round does not run in the context of the caller that started it', async () => {
  const context = new AsyncLocalStorage<string>()
  const join = inRounds(async () => context.getStore() ?? 'none')
  expect(await context.run('a request', () => join())).toBe('none')
})
