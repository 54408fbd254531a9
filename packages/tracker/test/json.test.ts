import { beforeEach, expect, test, vi } from 'vitest'
import { BUDGET_MAX, serialize } from '../src/json.ts'

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  return () => vi.restoreAllMocks()
})

/** What arrives of an event's data. */
const written = (data: Record<string, unknown>) => JSON.parse(serialize({ event: 'e', data })).data

test('objects that refer to each other, deep and huge values neither block the page nor lose the event', () => {
  let reads = 0
  /** Objects that all refer to each other, which counts how often the tracker follows a reference. */
  const graph = (size: number) => {
    const nodes = Array.from({ length: size }, (): Record<string, unknown> => ({}))
    for (const node of nodes) {
      for (const [index, other] of nodes.entries()) {
        Object.defineProperty(node, `to${index}`, { enumerable: true, get: () => [++reads, other][1] })
      }
    }
    return nodes
  }
  let deep: unknown = 'end'
  for (let depth = 0; depth < 5_000; depth++) deep = { deep }
  const address = { city: 'Bern' }
  expect(written({ graph: graph(12), ok: 1 })).toMatchObject({ ok: 1 })
  expect(Object.keys(written({ graph: graph(100) }))).toEqual(['truncated'])
  expect(written({ deep, ok: 1 })).toMatchObject({ ok: 1 })
  for (const huge of [
    { list: Array(1e6).fill(1) },
    { list: Array(4e9) },
    Object.fromEntries(Array.from({ length: 2e5 }, (_, index) => [`k${index}`, index])),
    { text: 'x'.repeat(5e6) },
  ])
    expect(written(huge)).toEqual({ truncated: true })
  expect(written({ billing: address, shipping: address })).toEqual({
    billing: { city: 'Bern' },
    shipping: { city: 'Bern' },
  })
  // Each reference is followed at most once. Twelve objects have a billion paths, which took a page 21 seconds.
  expect(reads).toBeLessThanOrEqual(12 ** 2 + 100 ** 2)
})

test('traits that come after the budget is spent are not looked at', () => {
  let looks = 0
  const list = Array(BUDGET_MAX).fill('x')
  const slice = (...bounds: number[]) => {
    looks++
    return list.slice(...bounds)
  }
  const traits = Array.from({ length: 300 }, (_, n) => [`list${n}`, Object.assign([], { slice })])
  const json = serialize({ identify: { external_user_id: 'u1', traits: Object.fromEntries(traits) } }, BUDGET_MAX, -2)
  expect(JSON.parse(json)).toEqual({ identify: { external_user_id: 'u1', traits: {} } })
  // Each trait that is too large halves the budget of 200,000 bytes.
  expect(looks).toBeLessThanOrEqual(18)
})
