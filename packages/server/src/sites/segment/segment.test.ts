import { gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createSource } from '../../../test/sources.ts'
import { until } from '../../../test/webhooks.ts'
import { MINUTE_MS } from '../../platform/time.ts'

let service: TestService
let tenant: TestTenant
let serverKey: string
let browserKey: string
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  serverKey = await createSource(tenant, 'server')
  browserKey = await createSource(tenant, 'browser')
})

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` })

/** Sends as an SDK on a server does. */
const send = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<TestResponse> =>
  call(service, 'POST', path, {
    headers: { ...basic(serverKey), ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })

/** Sends as an SDK on a page does. */
const sendFromPage = (path: string, body: object, site = tenant.site): Promise<TestResponse> =>
  call(service, 'POST', path, {
    headers: { origin: `https://${site}`, 'content-type': 'text/plain', 'user-agent': CHROME },
    body: JSON.stringify({ writeKey: browserKey, ...body }),
  })

const events = async (query = '') => (await tenant.call('GET', `/v1/events?sort_dir=asc&limit=100${query}`)).body.events
/** Columns that the API does not show, in the order of the events' names. */
const columns = (names: string) =>
  service.stores.clickhouse.query(
    `SELECT ${names} FROM events WHERE tenant_id = {t: UUID} AND NOT is_system ORDER BY event`,
    {
      t: tenant.id,
    },
  )
const SUCCESS = { status: 'success', success: true }

describe('a call', () => {
  test('of each type does what it says', async () => {
    const who = { userId: 'user-1', context: { traits: { email: 'ada@example.com' } } }
    const at = '2026-01-31T08:00:00.000Z'
    const calls: [string, object][] = [
      ['track', { ...who, event: 'Order Completed', properties: { total: 49.9, items: ['a'] }, timestamp: at }],
      ['page', { ...who, name: 'Pricing', category: 'Docs', properties: { url: 'https://shop.example.com/p?x=1' } }],
      ['screen', { ...who, name: 'Home' }],
      [
        'identify',
        { userId: 'user-1', traits: { firstName: 'Ada', address: { city: 'Rome' }, company: { name: 'AE' } } },
      ],
      ['group', { ...who, groupId: 'ae.example', traits: { name: 'Analytical Engines', employees: 12 } }],
      ['alias', { userId: 'user-1', previousId: 'visitor-9' }],
    ]
    for (const [type, sent] of calls) expect((await send(`/v1/${type}`, sent)).body, type).toEqual(SUCCESS)
    const contact = await tenant.contactOf('ada@example.com')
    expect(contact.properties).toMatchObject({ firstname: 'Ada', 'address.city': 'Rome', company: 'AE' })
    const { body } = await tenant.call('GET', `/v1/companies/${contact.company_id}`)
    expect(body.company).toMatchObject({
      domain: 'ae.example',
      name: 'Analytical Engines',
      properties: { numberofemployees: 12 },
    })
    const own = await events(`&contact_id=${contact.contact_id}`)
    expect(own).toMatchObject([
      { event: 'Order Completed', timestamp: at, data: { total: 49.9, items: ['a'] }, session_id: null },
      {
        event: 'page_view',
        url: 'https://shop.example.com/p?x=1',
        domain: 'shop.example.com',
        data: { name: 'Pricing', title: 'Pricing', category: 'Docs' },
      },
      { event: 'screen_view', data: { name: 'Home', title: 'Home' } },
    ])
  })

  test.each(['t', 'p', 's', 'i', 'g', 'a'])('is accepted as text/plain at the short path /v1/%s', async (path) => {
    const sent = { anonymousId: 'v1', userId: 'u1', event: 'x', groupId: 'g.example', previousId: 'v0' }
    expect((await sendFromPage(`/v1/${path}`, sent)).body).toEqual(SUCCESS)
  })

  test('has its context in the columns of the event, but not its IP address', async () => {
    const context = {
      page: { url: 'https://shop.example.com/a', title: 'A page', referrer: 'https://www.search.example/?q=x' },
      locale: 'it-IT',
      timezone: 'Europe/Rome',
      screen: { width: 1920, height: 1080, density: 2 },
      userAgent: CHROME,
      campaign: { name: 'spring', source: 'mail' },
      ip: '203.0.113.77',
      sessionId: 1_700_000_000_000,
    }
    await send('/v1/track', { anonymousId: 'v1', event: 'x', context })
    const [event] = await events()
    expect(event).toMatchObject({
      url: 'https://shop.example.com/a',
      referring_domain: 'search.example',
      screen: '1920x1080',
      browser: 'Chrome',
      device_type: 'desktop',
      is_bot: false,
      visitor_id: 'v1',
      session_id: '1700000000000',
      data: { title: 'A page', utm_campaign: 'spring', utm_source: 'mail' },
    })
    expect(await columns('language, timezone')).toEqual([{ language: 'it-IT', timezone: 'Europe/Rome' }])
    expect(JSON.stringify(event)).not.toContain('203.0.113.77')
  })

  test('of a server is never from a bot, whatever program sends it', async () => {
    await send('/v1/track', { userId: 'u1', event: 'x' }, { 'user-agent': 'Googlebot/2.1' })
    expect(await events()).toMatchObject([{ is_bot: false, browser: null }])
  })

  test('with any text as anonymousId and messageId is recorded once', async () => {
    const sent = { anonymousId: 'Ünï cödé / 😀 "quoted"', messageId: 'not a UUID: 1', event: 'x' }
    for (let n = 0; n < 3; n++) expect((await send('/v1/track', sent)).status).toBe(200)
    await Promise.all(Array.from({ length: 5 }, () => send('/v1/batch', { batch: [{ ...sent, type: 'track' }] })))
    expect(await events()).toMatchObject([{ visitor_id: sent.anonymousId }])
    // The id is unique within its source only.
    await sendFromPage('/v1/t', sent)
    expect(await events()).toHaveLength(2)
  })

  const minutesAhead = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString()
  const timesOf = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await events()).map(({ event, timestamp }: { event: string; timestamp: string }) => [event, timestamp]),
    )
  /** Within a minute. */
  const isAbout = (time: string | undefined, minutes: number) =>
    Math.abs(Date.parse(time ?? '') - (Date.now() + minutes * MINUTE_MS)) < MINUTE_MS

  const numberAhead = (minutes: number) => Date.parse(minutesAhead(minutes))
  const plainAhead = (minutes: number) => minutesAhead(minutes).slice(0, -1)

  test('has its clock corrected by the time at which it was sent', async () => {
    const calls = [
      // The device is an hour ahead; it happened five minutes before it was sent.
      { event: 'ahead', originalTimestamp: minutesAhead(55), sentAt: minutesAhead(60) },
      { event: 'ahead in numbers', originalTimestamp: numberAhead(55), sentAt: numberAhead(60) },
      { event: 'ahead without an offset', originalTimestamp: plainAhead(55), sentAt: plainAhead(60) },
      { event: 'right', timestamp: '2026-01-31T10:00:00+02:00', sentAt: minutesAhead(0) },
      { event: 'unknown', timestamp: 'yesterday' },
    ]
    for (const sent of calls) await send('/v1/track', { userId: 'u1', ...sent })
    const times = await timesOf()
    for (const event of ['ahead', 'ahead in numbers', 'ahead without an offset'])
      expect([event, isAbout(times[event], -5)]).toEqual([event, true])
    expect(times.right).toBe('2026-01-31T08:00:00.000Z')
    expect(isAbout(times.unknown, 0)).toBe(true)
  })

  test('of a server keeps its explicit timestamp, whatever its clock says', async () => {
    const timestamp = '2019-05-05T10:00:00.000Z'
    const beside = { originalTimestamp: minutesAhead(0), sentAt: minutesAhead(60) }
    await send('/v1/track', { userId: 'u1', event: 'call', timestamp, ...beside })
    for (const path of ['/v1/batch', '/v1/import']) {
      const batch = [{ type: 'track', userId: 'u1', event: path, timestamp, ...beside }]
      await send(path, {
        batch,
        timestamp: minutesAhead(0),
        sentAt: minutesAhead(-60),
        context: { timestamp: minutesAhead(0) },
      })
    }
    expect(await timesOf()).toEqual({ call: timestamp, '/v1/batch': timestamp, '/v1/import': timestamp })
  })

  test('of a page has its explicit timestamp corrected, because it is by the same clock', async () => {
    const sentAt = minutesAhead(60)
    const calls = [
      { event: 'own', timestamp: minutesAhead(55) },
      { event: 'both', timestamp: minutesAhead(50), originalTimestamp: minutesAhead(59) },
      { event: 'original', originalTimestamp: minutesAhead(45) },
    ]
    for (const sent of calls) await sendFromPage('/v1/t', { anonymousId: 'a', ...sent, sentAt })
    const times = await timesOf()
    expect([isAbout(times.own, -5), isAbout(times.both, -10), isAbout(times.original, -15)]).toEqual([true, true, true])
  })

  test.each([
    ['2020-01-01T00:00:00', '2020-01-01T00:00:00.000Z'],
    ['2020-01-01 10:30:00.5', '2020-01-01T10:30:00.500Z'],
    [1_577_872_800_000.5, '2020-01-01T10:00:00.000Z'],
    ['1577872800000.5', '2020-01-01T10:00:00.000Z'],
    [1_577_836_800_000, '2020-01-01T00:00:00.000Z'],
    ['1577836800000', '2020-01-01T00:00:00.000Z'],
    [1_577_836_800, '2020-01-01T00:00:00.000Z'],
    [1_577_836_800.25, '2020-01-01T00:00:00.250Z'],
  ])('of history keeps a time without an offset, or since 1970: %j', async (timestamp, expected) => {
    for (const sent of [{ timestamp }, { timestamp, originalTimestamp: new Date().toISOString() }]) {
      const { body } = await send('/v1/track', { userId: 'u1', event: `e${Object.keys(sent).length}`, ...sent })
      expect(body).not.toHaveProperty('warnings')
    }
    expect(await timesOf()).toEqual({ e1: expected, e2: expected })
  })

  test('whose timestamp is invalid gets its originalTimestamp, else the time of receipt, and a warning', async () => {
    const originalTimestamp = '2025-03-01T10:00:00.000Z'
    const calls = [
      { event: 'original', timestamp: '1 March 2025', originalTimestamp },
      { event: 'neither', timestamp: '1 March 2025', originalTimestamp: 'noon' },
      { event: 'broken original', originalTimestamp: 'noon' },
    ]
    const sent = []
    for (const each of calls) sent.push((await send('/v1/track', { userId: 'u1', ...each })).body.warnings)
    expect(sent).toEqual([
      [
        'timestamp was replaced by originalTimestamp: it is not a time. Send ISO 8601, or seconds or milliseconds since 1970.',
      ],
      [
        'timestamp was replaced by the time of receipt: it is not a time. Send ISO 8601, or seconds or milliseconds since 1970.',
      ],
      [
        'timestamp was replaced by the time of receipt: it is not a time. Send ISO 8601, or seconds or milliseconds since 1970.',
      ],
    ])
    const times = await timesOf()
    expect(times.original).toBe(originalTimestamp)
    expect([isAbout(times.neither, 0), isAbout(times['broken original'], 0)]).toEqual([true, true])
    const { body } = await send('/v1/track', {
      userId: 'u1',
      event: 'e',
      timestamp: originalTimestamp,
      originalTimestamp: 'noon',
    })
    expect(body).not.toHaveProperty('warnings')
  })

  test.each([
    [{ event: 'x' }, /userId/],
    [{ userId: 'u1' }, /event/],
    [{ userId: 'u1', event: '' }, /event/],
    [{ userId: 'u1', event: 'x'.repeat(201) }, /event/],
    [{ anonymousId: 'x'.repeat(201), event: 'x' }, /anonymousId/],
    [{ userId: 'u1', event: 'x', timestamp: '1999-01-01T00:00:00Z' }, /2000/],
    [{ userId: 'u1', event: 'a\0b' }, /NUL/],
    [{ userId: 'u1', event: 'x', properties: { text: 'x'.repeat(33_000) } }, /32768/],
    ['[]', /object/],
    ['{', /JSON/],
    ['', /object/],
  ])('that is not valid is 400: %.60j', async (sent, message) => {
    const { status, body } = await send('/v1/track', sent)
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(message)])
    expect(await events()).toEqual([])
  })
})

describe('people', () => {
  test('who were anonymous keep their events when they are identified', async () => {
    await sendFromPage('/v1/b', {
      batch: [
        { type: 'page', anonymousId: 'v1' },
        { type: 'track', anonymousId: 'v1', event: 'a' },
      ],
    })
    await sendFromPage('/v1/i', { anonymousId: 'v1', userId: 'u1', traits: { email: 'ada@example.com', plan: 'pro' } })
    await sendFromPage('/v1/t', { anonymousId: 'v1', userId: 'u1', event: 'b' })
    const contact = await tenant.contactOf('ada@example.com')
    expect(contact.properties.plan).toBe('pro')
    expect(await events(`&contact_id=${contact.contact_id}`)).toMatchObject([
      { event: 'page_view' },
      { event: 'a' },
      { event: 'b' },
    ])
  })

  test('identified in the same batch own the events before and after', async () => {
    await send('/v1/batch', {
      batch: [
        { type: 'track', anonymousId: 'v1', event: 'before' },
        { type: 'identify', anonymousId: 'v1', userId: 7, traits: { email: 'ada@example.com' } },
        { type: 'track', anonymousId: 'v1', event: 'after' },
        { type: 'track', userId: 7, event: 'by id' },
      ],
    })
    const contact = await tenant.contactOf('ada@example.com')
    expect(await events(`&contact_id=${contact.contact_id}`)).toHaveLength(3)
  })

  test('keep the values of the CRM: a browser only fills blanks', async () => {
    await tenant.contact('ada@example.com', { firstname: 'Ada' })
    await sendFromPage('/v1/i', {
      anonymousId: 'v1',
      traits: { email: 'ada@example.com', firstName: 'Eve', city: 'Rome' },
    })
    expect((await tenant.contactOf('ada@example.com')).properties).toMatchObject({ firstname: 'Ada', city: 'Rome' })
    await send('/v1/identify', { userId: 'u1', traits: { email: 'ada@example.com', firstName: 'Eve' } })
    expect((await tenant.contactOf('ada@example.com')).properties.firstname).toBe('Eve')
  })

  test.each([
    '{"a":1}', 'true', 'false', '5', '["a@example.com"]', '[]', '"nope"', '{"address":"a@example.com"}',
  ])('with %s as their email are told that it is none, and keep their other traits', async (email) => {
    for (const name of ['email', 'Email']) {
      const traits = `{"${name}":${email},"plan":"pro"}`
      const { body } = await send('/v1/identify', `{"userId":"u-${name}","traits":${traits}}`)
      expect(body.warnings).toEqual(['traits.email is not a valid email address.'])
      const known = await tenant.call('POST', '/v1/identify', { user_id: `u-${name}` })
      const { contact } = (await tenant.call('GET', `/v1/contacts/${known.body.contact_id}`)).body
      expect(contact.properties).toEqual({ plan: 'pro' })
    }
  }) // biome-ignore format: a list

  test.each(['null', '""', '" "'])('with %s as their email have none, without a warning', async (email) => {
    const { body } = await send('/v1/identify', `{"userId":"u","traits":{"email":${email},"plan":"pro"}}`)
    expect(body.warnings).toBeUndefined()
  })

  test('that alias joins have the events of both ids', async () => {
    await send('/v1/track', { anonymousId: 'v1', event: 'as visitor' })
    await send('/v1/identify', { userId: 'u1', traits: { email: 'ada@example.com' } })
    await send('/v1/alias', { previousId: 'v1', userId: 'u1' })
    const contact = await tenant.contactOf('ada@example.com')
    expect(await events(`&contact_id=${contact.contact_id}`)).toMatchObject([{ event: 'as visitor' }])
  })

  test('of an anonymous identify have no contact, which the debugger explains', async () => {
    const { body } = await sendFromPage('/v1/i', { anonymousId: 'v1', traits: { plan: 'pro' } })
    expect(body).toEqual({ ...SUCCESS, warnings: [expect.stringMatching(/email/)] })
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
  })

  test('of one group share a company', async () => {
    for (const n of [1, 2]) {
      const who = { userId: `u${n}`, context: { traits: { email: `p${n}@example.com` } } }
      await send('/v1/group', { ...who, groupId: 'team-7', traits: { name: 'Team 7', plan: 'gold' } })
    }
    const [one, two] = await Promise.all(['p1@example.com', 'p2@example.com'].map((email) => tenant.contactOf(email)))
    expect(one.company_id).toBe(two.company_id)
    const { company } = (await tenant.call('GET', `/v1/companies/${one.company_id}`)).body
    expect(company).toMatchObject({ name: 'Team 7', properties: { plan: 'gold' } })
  })
})

describe('a batch', () => {
  const good = { type: 'track', userId: 'u1', event: 'good' }

  test('keeps its good calls when others are bad, and the debugger lists the bad ones', async () => {
    const bad = [
      7,
      null,
      { type: 'nonsense', userId: 'u1' },
      { ...good, event: undefined },
      { ...good, event: 'a\ud800' },
    ]
    const { status, body } = await send('/v1/batch', { batch: [good, ...bad, good], sentAt: new Date().toISOString() })
    expect([status, body.success]).toEqual([200, true])
    expect(body.warnings.map((text: string) => text.slice(0, 8))).toEqual([1, 2, 3, 4, 5].map((n) => `batch[${n}]`))
    expect(await events()).toHaveLength(2)
    await until(async () => {
      const { problems } = (await tenant.call('GET', '/v1/tracker/problems')).body
      expect(problems).toMatchObject([{ path: '/v1/batch', status: 200, code: 'warnings', messages: body.warnings }])
    })
  })

  test('shares its context', async () => {
    await send('/v1/batch', {
      batch: [good, { ...good, event: 'z', context: { locale: 'fr' } }],
      context: { locale: 'de', timezone: 'UTC' },
    })
    expect(await events()).toHaveLength(2)
    expect(await columns('language, timezone')).toEqual([
      { language: 'de', timezone: 'UTC' },
      { language: 'fr', timezone: 'UTC' },
    ])
  })

  test('has at most 2,500 calls', async () => {
    const batch = (count: number) => ({ batch: Array.from({ length: count }, () => good) })
    expect((await send('/v1/import', batch(2_500))).body).toEqual(SUCCESS)
    expect((await tenant.call('GET', '/v1/events?count_only=1')).body.count).toBe(2_500)
    for (const sent of [batch(2_501), { batch: [] }, { batch: 'x' }, {}]) {
      expect((await send('/v1/batch', sent)).status).toBe(400)
    }
    const { error } = (await send('/v1/batch', batch(2_501))).body
    expect(error.details).toEqual([{ path: 'batch', message: 'must be a list of 1 to 2500 items' }])
  })

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'may be compressed, labeled %s',
    async (type) => {
      const body = gzipSync(JSON.stringify({ batch: [good] }))
      const response = await send('/v1/batch', body, { 'content-type': type, 'content-encoding': 'gzip' })
      expect([response.status, response.body]).toEqual([200, SUCCESS])
    },
  )

  test('of more than 4,000 KB is 413, even when it is compressed', async () => {
    const big = JSON.stringify({ batch: [good], padding: ' '.repeat(4_000 * 1024) })
    expect((await send('/v1/batch', big)).status).toBe(413)
    const bomb = gzipSync(Buffer.alloc(50_000_000, 32))
    expect((await send('/v1/batch', bomb, { 'content-encoding': 'gzip' })).status).toBe(413)
    const fits = JSON.stringify({ batch: [good], padding: ' '.repeat(3_900 * 1024) })
    expect((await send('/v1/batch', fits)).status).toBe(200)
  })
})
