import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createConnections } from './connections.ts'

test('no more than 32 requests are begun in a turn of the event loop, and all of them in their order', async () => {
  const connections = createConnections({})
  const begun: number[] = []
  const uses = Array.from({ length: 70 }, (_, n) =>
    connections.use('https://hooks.example', async () => {
      begun.push(n)
    }),
  )
  expect(begun).toHaveLength(0)
  const counts: number[] = []
  while (begun.length < 70) {
    await turn()
    counts.push(begun.length)
  }
  expect(counts.filter((count, index) => count !== counts[index - 1])).toEqual([32, 64, 70])
  expect(begun).toEqual(uses.map((_, n) => n))
  await Promise.all(uses)
  await connections.close()
})

test('a connection cannot be asked for after the end', async () => {
  const connections = createConnections({})
  await connections.close()
  await expect(connections.use('https://hooks.example', async () => {})).rejects.toThrow('closed')
})
