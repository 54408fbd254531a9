import { beforeAll, beforeEach, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** Sends a text of JSON as a page does. JSON.stringify cannot write every number. */
const send = (text: string) =>
  call(service, 'POST', '/track', { headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME }, body: text })
const events = async () => (await tenant.call('GET', '/v1/events?sort_dir=asc&limit=100')).body.events
const contacts = async () => (await tenant.call('GET', '/v1/contacts?limit=100')).body.contacts
const UUID = /^[0-9a-f-]{36}$/
const CHARACTER = 'it contains a NUL character, a lone surrogate or bytes that are not UTF-8, which cannot be stored.'

test('a NUL in a trait leaves out the identification and keeps the event', async () => {
  // The file from the field.
  const text =
    '{"visitor_id":"p9","identify":{"external_user_id":"ok9","traits":{"email":"ok9@acme.example","bio":"a\\u0000b"}},"events":[{"event":"ev9"}]}'
  const { status, body } = await send(text)
  expect([status, body.accepted]).toEqual([200, 1])
  expect(body.warnings).toEqual([expect.stringContaining('identify was ignored: traits.bio contains a NUL character')])
  expect(await events()).toMatchObject([{ event: 'ev9', visitor_id: 'p9' }])
  expect(await contacts()).toEqual([])
})

test.each([
  ['{"external_user_id":"u\\ud800"}', 'external_user_id'],
  ['{"external_user_id":"u","traits":{"__proto__":{"a":1}}}', 'traits.__proto__'],
  ['{"external_user_id":"u","traits":{"a\\u0000":1}}', 'traits'],
  [`{"external_user_id":"u","traits":{"a":${'['.repeat(50)}${']'.repeat(50)}}}`, 'traits.a[0]'],
  ['"\\u0000"', 'it'],
])('an identification that cannot be stored is left out, and the events are kept: %#', async (identify, named) => {
  const { status, body } = await send(`{"visitor_id":"v","identify":${identify},"events":[{"event":"kept"}]}`)
  expect([status, body.warnings]).toEqual([200, [expect.stringContaining(`identify was ignored: ${named}`)]])
  expect(await events()).toMatchObject([{ event: 'kept' }])
  expect(await contacts()).toEqual([])
})

test('an event is kept without the keys of its data that cannot be stored, and its neighbors as they are', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const { status, body } = await send(
    `{"visitor_id":"v","events":[
      {"event":"bad","data":{"lone":"a\\ud83d","kept":"é","inner":{"nul":"\\u0000","n":1},"list":["x","\\ud800"],"a\\u0000":1,"__proto__":{"x":1},"deep":${deep}}},
      {"event":"good","data":{"kept":1}}]}`,
  )
  expect([status, body.accepted]).toEqual([200, 2])
  expect(body.warnings).toEqual([
    `events[0].data.lone was left out: ${CHARACTER}`,
    `events[0].data.inner.nul was left out: ${CHARACTER}`,
    `events[0].data.list[1] was left out: ${CHARACTER}`,
    `events[0].data has a key that was left out: ${CHARACTER}`,
    'events[0].data.__proto__ was left out: it is a reserved name.',
    'events[0].data.deep was left out: it is nested deeper than 32 levels.',
  ])
  expect((await events()).map(({ event, data }: { event: string; data: object }) => [event, data])).toEqual([
    ['bad', { kept: 'é', inner: { n: 1 }, list: ['x'] }],
    ['good', { kept: 1 }],
  ])
})

test('an event is kept without a title, URL or referrer that cannot be stored', async () => {
  const { status, body } = await send(
    '{"visitor_id":"v","events":[{"event":"page_view","url":"https://a.example/\\ud83d","title":"cut \\ud83d","referrer":"\\u0000","data":{"kept":1}}]}',
  )
  expect(status).toBe(200)
  expect(body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
    'events[0].url',
    'events[0].title',
    'events[0].referrer',
  ])
  expect(await events()).toMatchObject([{ event: 'page_view', url: null, data: { kept: 1 } }])
})

test('what cannot be stored in the context, the hash or the external contact id is ignored', async () => {
  const { status, body } = await send(
    '{"visitor_id":"v","user_hash":"\\u0000","external_contact_id":"c\\ud800","context":{"screen":"1x1","language":"\\u0000","other":{"__proto__":1}},"events":[{"event":"kept"}]}',
  )
  expect([status, body.accepted]).toEqual([200, 1])
  expect(body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
    'user_hash',
    'external_contact_id',
    'context.language',
    'context.other.__proto__',
  ])
  expect(await events()).toMatchObject([{ event: 'kept', screen: '1x1' }])
})

test('a visitor, a session or a clock that cannot be stored is left out, and the events are kept', async () => {
  const { status, body } = await send(
    '{"visitor_id":"v\\u0000","session_id":"s\\ud800","sent_at":"\\u0000","__proto__":{"a":1},"x\\u0000":1,"events":[{"event":"kept"}]}',
  )
  expect([status, body.accepted]).toEqual([200, 1])
  expect(body.warnings).toEqual([
    `visitor_id was left out: ${CHARACTER}`,
    `session_id was left out: ${CHARACTER}`,
    `sent_at was left out: ${CHARACTER}`,
    '__proto__ was left out: it is a reserved name.',
    `the body has a key that was left out: ${CHARACTER}`,
  ])
  expect([body.visitor_id, body.session_id]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)])
  expect(await events()).toMatchObject([{ event: 'kept', visitor_id: body.visitor_id }])
})

test('an event is kept without a key beside its data that cannot be stored', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const { status, body } = await send(
    `{"visitor_id":"v","events":[{"event":"a","__proto__":{"x":1},"b\\u0000":1},{"event":"b","deep":${deep}},{"event":"c"}]}`,
  )
  expect([status, body.accepted]).toEqual([200, 3])
  expect(body.warnings).toEqual([
    'events[0].__proto__ was left out: it is a reserved name.',
    `events[0] has a key that was left out: ${CHARACTER}`,
    'events[1].deep was left out: it is nested deeper than 32 levels.',
  ])
  expect((await events()).map(({ event }: { event: string }) => event)).toEqual(['a', 'b', 'c'])
})

test.each([
  ['{"event":"a\\u0000"}', 'events[0].event'],
  ['{"event":"a","event_id":"\\u0000"}', 'events[0].event_id'],
  ['{"event":"a","timestamp":"2026-01-31T08:00:00\\ud800Z"}', 'events[0].timestamp'],
  ['{"event":"a","x":1}', 'events[0].x'],
  ['"\\u0000"', 'events[0]'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, 'events[0]'],
])(
  'but an event whose name, id or time cannot be stored is malformed: 400, none is recorded: %#',
  async (event, path) => {
    const { status, body } = await send(`{"visitor_id":"v","events":[${event},{"event":"good"}]}`)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
    expect(await events()).toEqual([])
  },
)

test('a list of events that is nested too deep is 400, even beside an identification', async () => {
  const { status } = await send(`{"identify":{"external_user_id":"u"},"events":${'['.repeat(100)}${']'.repeat(100)}}`)
  expect(status).toBe(400)
  expect(await contacts()).toEqual([])
})

test('an external_contact_id may be a number, and one that cannot be used is ignored with a warning', async () => {
  const known = await tenant.call('POST', '/v1/identify', { user_id: '5' })
  const long = await tenant.call('POST', '/v1/identify', { user_id: '1234567890123456781' })
  for (const [id, visitor] of [['5', 'p'], ['1234567890123456781', 'q']] as const) {
    const { status, body } = await send(`{"visitor_id":"${visitor}","external_contact_id":${id},"events":[{"event":"${visitor}"}]}`)
    expect([status, body.warnings]).toEqual([200, undefined])
  } // biome-ignore format: a list
  expect(await events()).toMatchObject([
    { event: 'p', internal_contact_id: known.body.contact_id },
    { event: 'q', internal_contact_id: long.body.contact_id },
  ])
  for (const id of ['{"a":1}', '["5"]', '""', `"${'x'.repeat(201)}"`]) {
    const { status, body } = await send(`{"visitor_id":"w","external_contact_id":${id},"events":[{"event":"w"}]}`)
    expect([status, body.accepted, body.warnings]).toEqual([
      200,
      1,
      ['external_contact_id was ignored: it must be a string of 1 to 200 characters.'],
    ])
  }
})

test('numbers that lose digits are kept as text, and those that are too large are left out', async () => {
  const { status, body } = await send(
    '{"visitor_id":"v","identify":{"external_user_id":"u","traits":{"account":1234567890123456781,"balance":1e400}},"events":[{"event":"e","data":{"id":1234567890123456789,"next":-1234567890123456790,"huge":1E400,"tiny":1e-400,"zero":-0,"list":[9007199254740993,-1e400,1]}}]}',
  )
  expect(status).toBe(200)
  expect(body.warnings).toEqual([
    'identify.traits.account was kept as text: as a number, it would lose digits.',
    'identify.traits.balance was left out: it is a number that is too large to be stored.',
    'events[0].data.id was kept as text: as a number, it would lose digits.',
    'events[0].data.next was kept as text: as a number, it would lose digits.',
    'events[0].data.huge was left out: it is a number that is too large to be stored.',
    'events[0].data.tiny was kept as text: as a number, it would lose digits.',
    'events[0].data.list[0] was kept as text: as a number, it would lose digits.',
    'events[0].data.list[1] was left out: it is a number that is too large to be stored.',
  ])
  const [event] = await events()
  expect(event.data).toEqual({
    id: '1234567890123456789',
    next: '-1234567890123456790',
    tiny: '1e-400',
    zero: 0,
    list: ['9007199254740993', 1],
  })
  const [{ properties }] = await contacts()
  expect(properties).toMatchObject({ account: '1234567890123456781' })
  expect(properties).not.toHaveProperty('balance')
})

test.each([
  ['1234567890123456781', '1234567890123456782'],
  ['2.234567890123456781e18', '2.234567890123456789E18'],
  ['12345678901234567.1', '12345678901234567.9'],
])('two people whose numeric ids differ in the last digit are two contacts: %s', async (one, other) => {
  for (const id of [one, other]) {
    const { body } = await send(
      `{"visitor_id":"v${id}","identify":{"external_user_id":${id}},"events":[{"event":"e"}]}`,
    )
    expect(body.warnings).toBeUndefined()
  }
  expect(await contacts()).toHaveLength(2)
  const { body } = await tenant.call('POST', '/v1/identify', { user_id: other })
  expect(body.created).toBe(false)
})

test('only numbers that a double does not hold become text: not prices, and not round numbers of any size', async () => {
  const data = '"a":0.1,"b":49.9,"c":299060.17,"d":100000000000000000000,"e":1e21,"f":0.30000000000000004'
  const { body } = await send(`{"visitor_id":"v","events":[{"event":"e","data":{${data}}}]}`)
  expect(body.warnings).toBeUndefined()
  const [event] = await events()
  expect(event.data).toEqual({ a: 0.1, b: 49.9, c: 299060.17, d: 1e20, e: 1e21, f: 0.30000000000000004 })
})

test('thousands of values that cannot be stored cause at most 21 warnings', async () => {
  const list = Array(5_000).fill('"\\u0000"').join(',')
  const { status, body } = await send(`{"visitor_id":"v","events":[{"event":"kept","data":{"list":[${list}]}}]}`)
  expect([status, body.warnings.length, body.warnings.at(-1)]).toEqual([
    200,
    21,
    '4980 more values were left out or kept as text.',
  ])
  expect(await events()).toMatchObject([{ event: 'kept', data: { list: [] } }])
})
