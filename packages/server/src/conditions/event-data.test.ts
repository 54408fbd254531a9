import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { EMPTY_RECORD, JOURNAL_FORMAT, serializeEvents } from '../journal/event-record.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'
import { newId } from '../platform/ids.ts'
import { dataItems, dataText, itemsInData, itemsOf } from './event-property.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const OWNER = newId()

/** Records events with the data; their order is that of their ids. */
async function record(into: TestTenant, data: readonly unknown[]): Promise<void> {
  const events = data.map((each, index) => ({
    ...EMPTY_RECORD,
    tenant_id: into.id,
    event_id: newId(),
    event: 'test',
    timestamp: Date.UTC(2026, 0, 1) + index,
    received_at: Date.UTC(2026, 0, 1),
    owner_id: OWNER,
    data: JSON.stringify(each),
  }))
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(events), newId())
}

type Parts = Pick<EventSelect, 'columns' | 'where' | 'parameters'>

function select(from: TestTenant, { columns, where, parameters }: Parts) {
  const order = { orderBy: 'timestamp' } as const
  return from.handle.events.select<{ items: string[] }>({
    name: 'test.items',
    lane: 'light',
    ...{ columns, where, parameters, ...order },
  })
}

/** The items at a path of each event, in the order in which they were recorded. */
async function itemsAt(path: readonly string[], from = tenant, where: string[] = []): Promise<unknown[][]> {
  const { sql, parameters } = dataItems(path, 'p')
  const rows = await select(from, {
    columns: `${sql} AS items`,
    where: ['is_system = 0', ...where],
    parameters: { ...parameters, owners: [OWNER] },
  })
  return rows.map(({ items }) => items.map((item) => JSON.parse(item) as unknown))
}

const KEYS = [
  'a',
  'b',
  'a.b',
  'a\\b',
  '__proto__',
  'constructor',
  'länge',
  '日本',
  '😀',
  'x"y',
  "x'y",
  '',
  'length',
  'size0',
]
/** A path cannot name an empty key. */
const NAMED = KEYS.filter((each) => each !== '')
const NUMBERS = [0, -0, 1, -1, 0.1, 1e21, -1e21, 1e-7, 5e-324, 1.7e308, 2 ** 53, 2 ** 63, -(2 ** 62)]
const TEXTS = [
  '',
  'null',
  '5',
  '[1]',
  '{"a":1}',
  '\u0000',
  '\u2028',
  'x'.repeat(5_000),
  '"',
  '\\',
  '/',
  '1234567890123456789012',
]

/** A longer one is in tests of its own. */
function hasShortInteger(number: number): boolean {
  return Math.abs(number) < 2 ** 63 || Math.abs(number) >= 1e21
}

const key = fc.constantFrom(...KEYS)
const scalar = fc.oneof(
  fc.constantFrom(...NUMBERS, ...TEXTS, null, true, false),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter(hasShortInteger),
  fc.string({ unit: 'grapheme' }),
)
const { value } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map(objectOf),
}))
const data = fc.array(fc.tuple(key, value), { maxLength: 6 }).map(objectOf)

/** `__proto__` is a key like any other, as JSON.parse treats it. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {}
  for (const [name, held] of entries) {
    Object.defineProperty(object, name, { value: held, enumerable: true, configurable: true, writable: true })
  }
  return object
}

test('the items at any path of any data are the same in ClickHouse as in memory, in new and in merged parts', async () => {
  const sample = fc.sample(data, { numRuns: 400, seed: 7 })
  const paths = fc.sample(fc.array(fc.constantFrom(...NAMED), { minLength: 1, maxLength: 4 }), { numRuns: 60, seed: 8 })
  paths.push(...NAMED.map((each) => [each]))
  await record(tenant, sample)
  const expected = paths.map((path) => sample.map((each) => JSON.stringify(itemsInData(each, path))))
  /** What is different, in few words: there are thousands of items. */
  async function differences(where: string[] = []): Promise<string[]> {
    const found = await Promise.all(paths.map((path) => itemsAt(path, tenant, where)))
    return found.flatMap((items, index) => {
      const rows = items.map((each) => JSON.stringify(each))
      const row = rows.findIndex((each, at) => each !== expected[index]?.[at])
      return row < 0 && rows.length === sample.length
        ? []
        : [`${paths[index]}: ${rows[row]}, not ${expected[index]?.[row]}`]
    })
  }
  expect(await differences()).toEqual([])
  await service.stores.clickhouse.command('OPTIMIZE TABLE events FINAL')
  expect(await differences()).toEqual([])
  expect(await differences([isOwnedBy('owners')])).toEqual([])
  expect(expected.flat().filter((items) => items !== '[]').length).toBeGreaterThan(1_000)
})

test('a value and its items can be grouped in two steps, with the same items', async () => {
  const own = await createTestTenant(service)
  const orders = [
    { items: [{ sku: 'a' }, { sku: 'b' }] },
    { items: { sku: 'a' } },
    { items: [{ sku: ['b', 'c'] }] },
    {},
  ]
  await record(own, orders)
  const { sql, parameters } = dataText(['items', 'sku'], 'p')
  const rows = await select(own, { columns: `${itemsOf('text')} AS items, ${sql} AS text`, where: [], parameters })
  expect(rows.map(({ items }) => items)).toEqual([['"a"', '"b"'], ['"a"'], ['"b"', '"c"'], []])
})

test('a key whose type changes between events keeps each value with its type', async () => {
  const own = await createTestTenant(service)
  await record(own, [{ n: 5 }, { n: '5' }, { n: true }, { n: null }, { n: [5, '5', [5]] }, { n: { m: 5 } }, {}])
  expect(await itemsAt(['n'], own)).toEqual([[5], ['5'], [true], [], [5, '5', [5]], [{ m: 5 }], []])
  expect(await itemsAt(['n', 'm'], own)).toEqual([[], [], [], [], [], [5], []])
})

test('a number of more than 64 bits, or half a character, hides no other property of its event', async () => {
  const own = await createTestTenant(service)
  await record(own, [
    { id: 1e20, plan: 'pro' },
    { '\ud83d': 'half \udc00 \\ud800', plan: 'free', n: -(2 ** 63) },
  ])
  expect(await itemsAt(['plan'], own)).toEqual([['pro'], ['free']])
  expect(await itemsAt(['id'], own)).toEqual([[1e20], []])
  expect(await itemsAt(['n'], own)).toEqual([[], [-(2 ** 63)]])
  expect(await itemsAt(['\ufffd'], own)).toEqual([[], ['half \ufffd \\ud800']])
})

test('a number of more than 64 bits hides the values beside it in its list or object, and no others', async () => {
  const own = await createTestTenant(service)
  await record(own, [{ ids: [1e20, 1], plan: 'pro', user: { id: 1 } }])
  expect(await itemsAt(['ids'], own)).toEqual([[]])
  expect(await itemsAt(['plan'], own)).toEqual([['pro']])
  expect(await itemsAt(['user', 'id'], own)).toEqual([[1]])
})

test('an event is returned with its data as it was sent: the order of keys, and numbers of any size', async () => {
  const own = await createTestTenant(service)
  const sent = '{"z":1,"a":{"y":[1e+21,0.1],"b":null},"é.b":"é","long":100000000000000000000,"n":"1"}'
  const { status } = await own.track({
    visitor_id: newId(),
    events: [{ event: 'order', data: JSON.parse(sent) as object }],
  })
  expect(status).toBe(200)
  const { body } = await own.call('GET', '/v1/events?event=order')
  expect(JSON.stringify(body.events[0].data)).toBe(sent)
})
