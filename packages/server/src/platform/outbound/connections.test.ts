import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createConnections } from './connections.ts'

test('at most 32 requests start per turn of the event loop, in their order', async () => {
  const connections = createConnections({})
  const started: number[] = []
  const uses = Array.from({ length: 70 }, (_, n) =>
    connections.use('https://hooks.example', async () => {
      started.push(n)
    }),
  )
  expect(started).toHaveLength(0)
  const counts: number[] = []
  while (started.length < 70) {
    await turn()
    counts.push(started.length)
  }
  expect(counts.filter((count, index) => count !== counts[index - 1])).toEqual([32, 64, 70])
  expect(started).toEqual(uses.map((_, n) => n))
  await Promise.all(uses)
  await connections.close()
})

test('no connection can be used after the end', async () => {
  const connections = createConnections({})
  await connections.close()
  await expect(connections.use('https://hooks.example', async () => {})).rejects.toThrow('closed')
})
