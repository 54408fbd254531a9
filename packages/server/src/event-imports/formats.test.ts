import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EventFiles, jsonLines, openEventFiles } from '../../test/event-files.ts'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'
import { idOfLine } from '../event-formats/format.ts'
import { personOfPostHog } from '../event-formats/posthog.ts'
import { isUuid } from '../platform/ids.ts'
import { addWarnings, describeWarnings, type Warnings } from './warnings.ts'

let tenant: TestTenant
let files: EventFiles
beforeAll(async () => {
  const service = await sharedService()
  tenant = await createTestTenant(service)
  files = await openEventFiles(service, tenant)
})
afterAll(() => files?.remove())

const eventsOf = async (query: string) => (await tenant.call('GET', `/v1/events?sort_dir=asc&${query}`)).body.events
const contactsNamed = async (text: string) =>
  (await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(text)}`)).body.contacts
const AT = '2025-03-01T10:00:00.000Z'

test('events in our own format, from JSON lines and from CSV, compressed or not', async () => {
  const event_id = crypto.randomUUID()
  const json = jsonLines(
    { event: 'native_paid', event_id, timestamp: AT, email: 'native@example.com', data: { amount: 49.9 } },
    {
      event: 'native_paid',
      event_id: 'order 2',
      timestamp: AT,
      email: 'native@example.com',
      url: 'https://a.example/x',
    },
  )
  const summary = await files.import(await files.write('native.jsonl.gz', gzipSync(json)))
  expect(summary).toEqual({
    format: 'native',
    read: 2,
    recorded: 2,
    repeated: 0,
    people: 0,
    failed: 0,
    warned: 0,
    warnings: [],
    errors: null,
    imported_before: false,
  })
  const csv = `event;timestamp;email;data;plan;data.seats\nnative_csv;${AT};native@example.com;"{""amount"":1}";pro;3\n`
  expect(await files.import(await files.write('native.csv', csv))).toMatchObject({ format: 'native', recorded: 1 })
  const [paid, second] = await eventsOf('event_type=native_paid')
  expect([paid, second].map((each) => each.event_id)).toContain(event_id)
  expect(paid).toMatchObject({ timestamp: AT })
  const [fromCsv] = await eventsOf('event_type=native_csv')
  expect(fromCsv.data).toMatchObject({ amount: 1, plan: 'pro', seats: '3' })
  const contacts = await contactsNamed('native@example.com')
  expect(contacts).toHaveLength(1)
  expect(contacts[0]).toMatchObject({ first_seen_at: AT })
})

test('Segment’s calls, with anonymous events that an identify in the file joins to the contact', async () => {
  const file = await files.write(
    'segment.jsonl',
    jsonLines(
      {
        type: 'page',
        anonymousId: 'seg-anon',
        messageId: 'm1',
        timestamp: AT,
        properties: { url: 'https://s.example/a' },
      },
      { type: 'track', event: 'seg_signup', anonymousId: 'seg-anon', messageId: 'm2', timestamp: AT, sentAt: AT },
      { type: 'track', event: 'seg_signup', anonymousId: 'seg-anon', messageId: 'm2', timestamp: AT, sentAt: AT },
      { type: 'identify', userId: 'seg-1', anonymousId: 'seg-anon', traits: { email: 'seg@example.com', plan: 'pro' } },
      { type: 'group', userId: 'seg-1', groupId: 'seg.example', traits: { name: 'Seg Ltd' }, timestamp: AT },
      { type: 'track', event: 'seg_paid', userId: 'seg-1', messageId: 'm3', originalTimestamp: AT },
    ),
  )
  const summary = await files.import(file)
  expect(summary).toMatchObject({ format: 'segment', read: 6, recorded: 3, repeated: 1, people: 2, failed: 0 })
  const [contact] = await contactsNamed('seg@example.com')
  expect(contact.properties).toMatchObject({ plan: 'pro' })
  expect(contact.company_id).toEqual(expect.any(String))
  const events = await eventsOf(`contact_id=${contact.contact_id}`)
  expect(events.map((each: { event: string }) => each.event).sort()).toEqual(['page_view', 'seg_paid', 'seg_signup'])
  expect(events.every((each: { timestamp: string }) => each.timestamp === AT)).toBe(true)
})

test('PostHog’s export: page views, devices, links of ids and properties of people', async () => {
  const anonymous = '018e0b6e-4a6c-7c3e-8a64-0123456789ab'
  const properties = {
    $current_url: 'https://p.example/pricing?utm_source=news',
    $device_id: anonymous,
    $browser: 'Firefox',
    $os: 'Linux',
    $device_type: 'Desktop',
    $referrer: '$direct',
    $session_id: 'ph-session',
    $screen_width: 1920,
    $screen_height: 1080,
    $ip: '8.8.8.8',
    $geoip_country_code: 'AT',
    $geoip_subdivision_1_name: 'Vienna',
    $geoip_city_name: 'Vienna',
  }
  const file = await files.write(
    'posthog.jsonl',
    jsonLines(
      {
        uuid: crypto.randomUUID(),
        event: '$pageview',
        distinct_id: anonymous,
        properties,
        timestamp: '2025-03-01 10:00:00.000',
      },
      {
        uuid: crypto.randomUUID(),
        event: '$identify',
        distinct_id: 'ph-1',
        properties: {
          $anon_distinct_id: anonymous,
          $set: { email: 'ph@example.com', $initial_os: 'Linux', plan: 'team' },
        },
        timestamp: AT,
      },
      { uuid: crypto.randomUUID(), event: '$feature_flag_called', distinct_id: 'ph-1', properties: {}, timestamp: AT },
      {
        uuid: crypto.randomUUID(),
        event: '$create_alias',
        distinct_id: 'ph-1',
        properties: { alias: 'ph-old' },
        timestamp: AT,
      },
      {
        uuid: crypto.randomUUID(),
        event: 'ph_late',
        distinct_id: 'ph-old',
        properties: { $device_id: 'ph-old' },
        timestamp: AT,
      },
    ),
  )
  expect(await files.import(file)).toMatchObject({ format: 'posthog', read: 5, recorded: 3, people: 2, failed: 0 })
  const [contact] = await contactsNamed('ph@example.com')
  expect(contact.properties.plan).toBe('team')
  expect(contact.properties).not.toHaveProperty('$initial_os')
  const events = await eventsOf(`contact_id=${contact.contact_id}&sort_by=event`)
  const named = Object.fromEntries(events.map((each: { event: string }) => [each.event, each]))
  expect(Object.keys(named).sort()).toEqual(['$feature_flag_called', 'page_view', 'ph_late'])
  expect(named.page_view).toMatchObject({
    timestamp: AT,
    url: 'https://p.example/pricing?utm_source=news',
    session_id: 'ph-session',
    browser: 'Firefox',
    device_type: 'desktop',
    utm_source: 'news',
    country: 'AT',
    region: 'Vienna',
    city: 'Vienna',
  })
  expect(named.page_view.data).not.toHaveProperty('$ip')
})

test('Mixpanel’s export: seconds and milliseconds, devices and users', async () => {
  const seconds = Date.parse(AT) / 1_000
  const file = await files.write(
    'mixpanel.jsonl',
    jsonLines(
      {
        event: 'mp_visit',
        properties: { time: seconds, distinct_id: '$device:mp-device', $device_id: 'mp-device', $insert_id: 'a' },
      },
      {
        event: 'mp_signup',
        properties: {
          time: seconds * 1_000,
          distinct_id: 'mp@example.com',
          $device_id: 'mp-device',
          $user_id: 'mp@example.com',
          $insert_id: 'b',
          plan: 'x',
        },
      },
      {
        event: 'mp_signup',
        properties: { time: seconds, distinct_id: 'mp@example.com', $user_id: 'mp@example.com', $insert_id: 'b' },
      },
      { event: 'mp_plain', properties: { time: seconds, distinct_id: 'mp@example.com' } },
    ),
  )
  expect(await files.import(file)).toMatchObject({ format: 'mixpanel', read: 4, recorded: 3, repeated: 1, failed: 0 })
  const [contact] = await contactsNamed('mp@example.com')
  const events = await eventsOf(`contact_id=${contact.contact_id}`)
  expect(events.map((each: { event: string }) => each.event).sort()).toEqual(['mp_plain', 'mp_signup', 'mp_visit'])
  expect(events.every((each: { timestamp: string }) => each.timestamp === AT)).toBe(true)
})

test('an address that is the id of a person finds their contact in any spelling', async () => {
  const contactId = await tenant.contact('kim@xn--bcher-kva.example')
  const properties = { time: Date.parse(AT) / 1_000, distinct_id: 'Kim@b\u00fccher.example' }
  const file = await files.write('spelled.jsonl', jsonLines({ event: 'mp_spelled', properties }))
  expect(await files.import(file)).toMatchObject({ format: 'mixpanel', recorded: 1, failed: 0 })
  expect(await eventsOf(`contact_id=${contactId}`)).toMatchObject([{ event: 'mp_spelled' }])
})

test('what is ignored in a line is reported by kind, with the first lines', async () => {
  const paid = { type: 'track', event: 'warned', timestamp: AT }
  const file = await files.write(
    'warned.jsonl',
    jsonLines(
      { ...paid, userId: 'warned-1', messageId: 'w1' },
      { type: 'identify', userId: 'warned-1', traits: { email: 'no address', plan: 'pro' } },
      { type: 'identify', anonymousId: 'warned-anon', traits: { plan: 'pro' } },
      { type: 'identify', userId: 'warned-2', traits: { email: 'nobody', ['x'.repeat(129)]: 1 } },
      { type: 'group', anonymousId: 'warned-anon', groupId: 'g.example', traits: { name: 'G' } },
      { ...paid, event: '', anonymousId: 'warned-anon', messageId: 'w2', context: { traits: { email: 'nobody' } } },
      ...Array.from({ length: 12 }, () => ({ type: 'identify', anonymousId: 'warned-anon', traits: { plan: 'pro' } })),
    ),
  )
  const summary = await files.import(file)
  const anonymous = 'the visitor is anonymous. Send a user id or an email.'
  expect(summary).toMatchObject({ read: 18, recorded: 1, failed: 1, warned: 16 })
  expect(summary.warnings).toEqual([
    { lines: 2, first_lines: [2, 4], message: 'traits.email is not a valid email address.' },
    {
      lines: 13,
      first_lines: [3, 7, 8, 9, 10, 11, 12, 13, 14, 15],
      message: `Ignored properties: ${anonymous}`,
    },
    { lines: 1, first_lines: [4], message: expect.stringMatching(/^traits\.x+ was ignored: /) },
    { lines: 1, first_lines: [5], message: `Ignored the company: ${anonymous}` },
  ])
  expect(await files.import(file)).toMatchObject({ imported_before: true, warned: 16, warnings: summary.warnings })
  expect(await files.import(file, { again: true })).toMatchObject({ warned: 16, warnings: summary.warnings })
})

test('PostHog’s properties of an anonymous person are reported too', async () => {
  const file = await files.write(
    'warned-posthog.jsonl',
    jsonLines({
      event: 'warned_posthog',
      timestamp: AT,
      distinct_id: '01890a5d-ac96-774b-bcce-b302099a8057',
      uuid: crypto.randomUUID(),
      properties: { $lib: 'web', $is_identified: false, $set: { email: 'no address' } },
    }),
  )
  expect(await files.import(file, { format: 'posthog' })).toMatchObject({
    recorded: 1,
    warnings: [{ lines: 1, first_lines: [1], message: 'traits.email is not a valid email address.' }],
  })
})

test('20 kinds of warnings are listed separately, and the others are counted together', () => {
  const warnings: Warnings = { lines: 0, kinds: [] }
  for (let line = 1; line <= 25; line++) addWarnings(warnings, line, [`kind ${line}`, 'kind 1'])
  addWarnings(warnings, 26, ['x'.repeat(1_000), 'y'])
  addWarnings(warnings, 27, [])
  expect(warnings.lines).toBe(26)
  expect(warnings.kinds).toHaveLength(21)
  expect(warnings.kinds[0]).toEqual({ lines: 25, first_lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], message: 'kind 1' })
  expect(describeWarnings(warnings.kinds)[0]).toBe('25 lines (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …): kind 1')
  expect(describeWarnings(warnings.kinds).at(-1)).toBe('6 lines (21, 22, 23, 24, 25, 26): Other parts were ignored.')
})

test('numeric ids beyond 2^53 are the digits in the file, and in data they are kept as text, with a warning', async () => {
  const track = (digit: number) =>
    `{"type":"track","event":"exact","userId":123456789012345678${digit},"messageId":923456789012345678${digit},"timestamp":"${AT}","properties":{"order":123456789012345678${digit},"huge":1e400}}`
  const summary = await files.import(await files.write('exact.jsonl', jsonLines(track(1), track(2), track(2))))
  expect(summary).toMatchObject({ read: 3, recorded: 2, repeated: 1, failed: 0, warned: 3 })
  expect(summary.warnings.map(({ message, lines }) => [message, lines])).toEqual([
    ['properties.order was kept as text: as a number, it would lose digits.', 3],
    ['properties.huge was left out: it is a number that is too large to be stored.', 3],
  ])
  const events = await eventsOf('event_type=exact')
  expect(events.map(({ data }: { data: { order: string } }) => data.order).toSorted()).toEqual([
    '1234567890123456781',
    '1234567890123456782',
  ])
  expect(new Set(events.map((each: { internal_contact_id: string }) => each.internal_contact_id)).size).toBe(2)
  const known = await tenant.call('POST', '/v1/identify', { user_id: '1234567890123456782' })
  expect(known.body.created).toBe(false)
})

test('so are those with an exponent or a fraction', async () => {
  const [one, other] = ['3.234567890123456781e18', '3.234567890123456789e18']
  const track = (id: string) =>
    `{"type":"track","event":"exponent","userId":${id},"messageId":${id},"timestamp":"${AT}","properties":{"order":${id},"price":49.9}}`
  const summary = await files.import(await files.write('exponent.jsonl', jsonLines(track(one), track(other))))
  expect(summary).toMatchObject({ read: 2, recorded: 2, repeated: 0, failed: 0, warned: 2 })
  const events = await eventsOf('event_type=exponent')
  expect(events.map(({ data }: { data: object }) => data)).toEqual(
    expect.arrayContaining([one, other].map((order) => ({ order, price: 49.9 }))),
  )
  expect(new Set(events.map((each: { internal_contact_id: string }) => each.internal_contact_id)).size).toBe(2)
})

test.each([
  [
    'amplitude',
    '{"event_type":"exact_amplitude","user_id":ID,"device_id":"d","event_time":"2025-03-01 10:00:00.000000","uuid":"UUID","$insert_id":ID}',
  ],
  [
    'mixpanel',
    '{"event":"exact_mixpanel","properties":{"time":1740823200,"distinct_id":ID,"$user_id":ID,"$insert_id":ID}}',
  ],
  [
    'posthog',
    '{"event":"exact_posthog","distinct_id":ID,"uuid":"UUID","timestamp":"2025-03-01T10:00:00.000Z","properties":{"$is_identified":true}}',
  ],
] as const)('neighboring numeric ids in a file of %s are two people', async (format, line) => {
  const lines = [1, 2].map((digit) =>
    line.replaceAll('"UUID"', `"${crypto.randomUUID()}"`).replaceAll('ID', `223456789012345678${digit}`),
  )
  const summary = await files.import(await files.write(`exact-${format}.jsonl`, jsonLines(...lines)), { format })
  expect(summary).toMatchObject({ read: 2, recorded: 2, failed: 0, warned: 0 })
  const events = await eventsOf(`event_type=exact_${format}`)
  expect(new Set(events.map((each: { internal_contact_id: string }) => each.internal_contact_id)).size).toBe(2)
})

test('JSON in a cell of a CSV file keeps its digits, too', async () => {
  const csv = `event,timestamp,email,data\nexact_csv,${AT},csv-exact@example.com,"{""order"":1234567890123456781}"\n`
  const summary = await files.import(await files.write('exact.csv', csv))
  expect(summary).toMatchObject({
    recorded: 1,
    warned: 1,
    warnings: [{ message: expect.stringMatching(/^data\.order was/) }],
  })
  expect(await eventsOf('event_type=exact_csv')).toMatchObject([{ data: { order: '1234567890123456781' } }])
})

test('lines that are not events fail alone, each with its number and its reason in the errors file', async () => {
  const good = { event: 'hostile', timestamp: AT, email: 'hostile@example.com' }
  const deep = `{"event":"hostile","timestamp":"${AT}","email":"hostile@example.com","data":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`
  const lines = [
    Buffer.from(`${JSON.stringify(good)}\n`),
    Buffer.from('{"event": broken\n'),
    Buffer.concat([
      Buffer.from('{"event":"hostile","email":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('@example.com"}\n'),
    ]),
    Buffer.from(`${JSON.stringify({ ...good, data: { text: 'a\u0000b' } })}\n`),
    Buffer.from(`${deep}\n`),
    Buffer.from(`{"event":"${'x'.repeat(10 * 1024 * 1024)}"}\n`),
    Buffer.from('\n'),
    Buffer.from(`${JSON.stringify({ event: 'hostile', email: 'hostile@example.com' })}\n`),
    Buffer.from(`${JSON.stringify({ ...good, timestamp: '2999-01-01T00:00:00Z' })}\n`),
    Buffer.from(`${JSON.stringify({ ...good, timestamp: '1999-01-01T00:00:00Z' })}\n`),
    Buffer.from(`${JSON.stringify({ event: 'hostile', timestamp: AT })}\n`),
    Buffer.from(`[1]\n`),
    Buffer.from(JSON.stringify({ ...good, data: { last: true } })),
  ]
  const file = await files.write('hostile.jsonl', Buffer.concat(lines))
  const summary = await files.import(file)
  expect(summary).toMatchObject({ read: 12, recorded: 2, failed: 10, errors: `${file}.errors.jsonl` })
  const { readFile } = await import('node:fs/promises')
  const errors = (await readFile(summary.errors ?? '', 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(errors.map(({ line, code }) => [line, code])).toEqual([
    [2, 'invalid_line'],
    [3, 'invalid_line'],
    [4, 'validation_error'],
    [5, 'validation_error'],
    [6, 'invalid_line'],
    [8, 'validation_error'],
    [9, 'validation_error'],
    [10, 'validation_error'],
    [11, 'validation_error'],
    [12, 'invalid_line'],
  ])
  expect(errors[0].text).toBe('{"event": broken')
})

test.each([
  ['empty.jsonl', '', 'invalid_file'],
  ['list.json', '[{"event":"x"}]', 'invalid_file'],
  ['unknown.jsonl', '{"what":"is this"}\n', 'unknown_format'],
  ['unknown.csv', 'a,b\n1,2\n', 'unknown_format'],
  ['quotes.csv', `event,timestamp,email\n"never closed,${AT},q@example.com\n`, 'invalid_file'],
  [
    'cut.jsonl.gz',
    gzipSync(jsonLines({ event: 'x', timestamp: AT, email: 'cut@example.com' })).subarray(0, 40),
    'invalid_file',
  ],
])('the file %s is rejected as a whole', async (name, contents, code) => {
  await expect(files.import(await files.write(name, contents))).rejects.toMatchObject({ code })
})

test('a file that does not exist is rejected', async () => {
  await expect(files.import('/nowhere/events.jsonl')).rejects.toMatchObject({ code: 'invalid_file' })
})

test('a line without an id always gets the same one, and these ids are in the order of time', () => {
  const times = ['2024-02-29T23:59:59Z', '2025-01-01T00:00:00Z', '2025-01-01T00:00:01Z', '2026-06-30T12:00:00+02:00']
  const ids = times.map((time) => idOfLine(`an event at ${time}`, time))
  expect(ids.toSorted()).toEqual(ids)
  expect(times.map((time) => idOfLine(`an event at ${time}`, time))).toEqual(ids)
  expect(idOfLine('another event', times[0])).not.toBe(ids[0])
  expect(ids.every(isUuid)).toBe(true)
})

test('a PostHog profile is the person of an id that names somebody', () => {
  const device = '0190a0b0-0000-7000-8000-000000000001'
  expect(personOfPostHog(['anonymous', 'user-42', device, 'undefined'], {})).toMatchObject({
    userId: 'user-42',
    visitorIds: [device],
  })
  expect(personOfPostHog(['undefined', device], {})).toBeNull()
})
