import { beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})

/** Sends a text of JSON, because JSON.stringify cannot write every number. */
async function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  tenant = await createTestTenant(service)
  return again(body, headers)
}
const again = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  call(service, 'POST', '/v1/events', { headers: { authorization: `Bearer ${tenant.key}`, ...headers }, body })
const events = async () => (await tenant.call('GET', '/v1/events?sort_dir=asc&limit=100')).body.events
const names = async () => (await events()).map(({ event }: { event: string }) => event)

test('a lone surrogate fails its event, and its neighbor is recorded', async () => {
  // The file from the field.
  const { status, body } = await send(
    '{"events":[{"event":"good","visitor_id":"v"},{"event":"bad","visitor_id":"v","data":{"x":"a\\ud83d"}}]}',
  )
  expect([status, body.failed]).toEqual([200, 1])
  expect(body.results).toMatchObject([
    { index: 0, status: 'accepted' },
    { index: 1, status: 'failed', error: { code: 'validation_error' } },
  ])
  expect(body.results[1].error.message).toMatch(/^data\.x: contains a NUL character, a lone surrogate/)
  expect(await names()).toEqual(['good'])
})

test.each([
  ['{"event":"bad\\u0000","visitor_id":"v"}', 'event: '],
  ['{"event":"bad","visitor_id":"v\\u0000"}', 'visitor_id: '],
  ['{"event":"bad","visitor_id":"v","data":{"a\\ud800":1}}', 'data: a key '],
  ['{"event":"bad","visitor_id":"v","data":{"__proto__":{"a":1}}}', 'data.__proto__: is a reserved name'],
  [`{"event":"bad","visitor_id":"v","data":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`, 'data.a[0]'],
  ['{"event":"bad","visitor_id":"v","context":{"language":"\\u0000"}}', 'context.language: '],
  ['{"event":"bad","visitor_id":"v","title":"cut \\ud83d"}', 'title: '],
  ['{"event":"bad","visitor_id":"v","evil\\u0000":1}', 'the record: a key '],
  ['{"event":"bad","visitor_id":"v","__proto__":1}', '__proto__: '],
  ['"\\u0000"', 'the record: contains a NUL'],
  ['"bad"', 'the record: must be an object'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, '[0][0]'],
  ['{"event":"bad","user_id":1234567890123456781}', 'user_id: must be a string'],
  ['{"event":"bad","user_id":1e400}', 'user_id: must be a string'],
  ['{"event":1234567890123456781,"visitor_id":"v"}', 'event: must be a string'],
])('an event that cannot be stored fails alone, between two that are recorded: %#', async (bad, message) => {
  const good = (name: string) => `{"event":"${name}","visitor_id":"v"}`
  const { status, body } = await send(`{"events":[${good('first')},${bad},${good('last')}]}`)
  expect([status, body.failed]).toEqual([200, 1])
  expect(body.results.map((result: { status: string }) => result.status)).toEqual(['accepted', 'failed', 'accepted'])
  expect(body.results[1].error.message.slice(0, message.length)).toBe(message)
  expect((await names()).toSorted()).toEqual(['first', 'last'])
})

test.each([
  ['half an emoji', [0xed, 0xa0, 0xbd]],
  ['a byte of Latin-1', [0xfc]],
  ['a character that is cut', [0xe2, 0x82]],
])('%s as raw bytes fails its event, and its neighbors are recorded as they are', async (_name, bytes) => {
  const [before, after] = [
    '{"events":[{"event":"first","visitor_id":"v","data":{"x":"é \ufffd"}},{"event":"bad","visitor_id":"v","data":{"x":"a',
    '"}},{"event":"last","visitor_id":"v"}]}',
  ]
  const sent = new Uint8Array(Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]))
  const { status, body } = await send(sent)
  expect([status, body.failed]).toEqual([200, 1])
  expect(body.results[1].error.message).toMatch(/^data\.x: contains .* bytes that are not UTF-8/)
  expect((await events()).map(({ event, data }: { event: string; data: object }) => [event, data])).toEqual([
    ['first', { x: 'é \ufffd' }],
    ['last', {}],
  ])
})

test('numbers in data keep their digits as text, and those that are too large are left out, with warnings', async () => {
  const { status, body } = await send(
    '{"events":[{"event":"e","visitor_id":"v","data":{"id":1234567890123456789,"huge":1e400,"price":0.1,"tiny":1e-400}},{"event":"f","visitor_id":"v","context":{"analytics_user_id":1234567890123456789}}]}',
  )
  expect([status, body.failed]).toEqual([200, 0])
  expect(body.warnings).toEqual([
    'events[0].data.id was kept as text: as a number, it would lose digits.',
    'events[0].data.huge was left out: it is a number that is too large to be stored.',
    'events[0].data.tiny was kept as text: as a number, it would lose digits.',
    'events[1].context.analytics_user_id was kept as text: as a number, it would lose digits.',
  ])
  const recorded = await events()
  expect(recorded).toMatchObject([{ event: 'e' }, { event: 'f', analytics_user_id: '1234567890123456789' }])
  expect(recorded[0].data).toEqual({ id: '1234567890123456789', price: 0.1, tiny: '1e-400' })
})

test('neighboring numbers in data stay two values', async () => {
  await send(
    '{"events":[{"event":"e","email":"a@example.com","data":{"id":1234567890123456781}},{"event":"e","email":"b@example.com","data":{"id":1234567890123456782}}]}',
  )
  expect((await events()).map(({ data }: { data: object }) => data)).toEqual([
    { id: '1234567890123456781' },
    { id: '1234567890123456782' },
  ])
})

test('a value of the request itself that cannot be stored is 400, and nothing is recorded', async () => {
  for (const beside of ['"x":"\\u0000"', '"x\\ud800":1', '"__proto__":1']) {
    const { status, body } = await send(`{"events":[{"event":"e","visitor_id":"v"}],${beside}}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(await names()).toEqual([])
  }
})

test('a repeated request with an Idempotency-Key has the same results and warnings', async () => {
  const text =
    '{"events":[{"event":"e","visitor_id":"v","data":{"id":1234567890123456789}},{"event":"bad","visitor_id":"\\u0000"}]}'
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const first = await send(text, headers)
  const second = await again(text, headers)
  expect(first.body.warnings).toHaveLength(1)
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  // Of these, the last two differ only in what cannot be stored.
  for (const other of [
    text.replace('789}', '790}'),
    text.replace('\\u0000', '\\ud800'),
    text.replace('"\\u0000"', 'null'),
  ]) {
    const { status, body } = await again(other, headers)
    expect([status, body.error.code]).toEqual([409, 'idempotency_key_reused'])
  }
  expect(await names()).toEqual(['e'])
})

test('501 events, all of which cannot be stored, are refused as a whole', async () => {
  const list = Array(501).fill('{"event":"\\u0000"}').join(',')
  const { status, body } = await send(`{"events":[${list}]}`)
  expect([status, body.error.details[0].path]).toEqual([400, 'events'])
  const all = await send(`{"events":[${list.slice(0, list.lastIndexOf(','))}]}`)
  expect([all.status, all.body.failed]).toEqual([200, 500])
})
