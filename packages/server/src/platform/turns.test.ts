import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

test('at most so many of a key and in all run at once; a full key lets others go ahead', async () => {
  const takeTurn = createTurns({ perKey: 2, inAll: 3 })
  const started: string[] = []
  const finish = new Map<string, () => void>()
  const run = (key: string, name: string) =>
    takeTurn(key, async () => {
      started.push(name)
      await new Promise<void>((resolve) => finish.set(name, resolve))
    })
  const work = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => run(name.slice(0, 1), name))
  await Promise.resolve()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  finish.get('b1')?.()
  await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'b2'])
  finish.get('a1')?.()
  await expect.poll(() => started).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
  for (const end of finish.values()) end()
  await Promise.all(work)
})

test('work that fails gives its turn back', async () => {
  const takeTurn = createTurns({ perKey: 1, inAll: 1 })
  await expect(takeTurn('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await takeTurn('a', async () => 'yes')).toBe('yes')
})
