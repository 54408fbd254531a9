import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'
import { HOUR_MS } from '../../platform/time.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})

async function fresh(): Promise<TestTenant> {
  tenant = await createTestTenant(service)
  return tenant
}

async function events(query = ''): Promise<Record<string, unknown>[]> {
  const { body } = await tenant.call('GET', `/v1/events?sort_dir=asc&limit=100&${query}`)
  return body.events
}

test('an event is readable once the request gets a response, enriched with browser, page and session', async () => {
  await fresh()
  const at = new Date(Date.now() - 5_000).toISOString()
  const { status, body, headers } = await tenant.track({
    visitor_id: 'visitor-1',
    context: {
      screen: '1920x1080',
      referrer: 'https://www.news.example/story',
      language: 'de',
      unknown: { deep: [1] },
    },
    events: [
      {
        event: 'button_click',
        timestamp: at,
        url: `https://${tenant.site}/pricing?plan=pro#top`,
        title: 'Pricing',
        data: { text: 'Buy “now”\n\t\\', class: 'btn primary', id: 'buy', price: 9.5, nested: { a: [null, true] } },
      },
    ],
  })
  expect(status).toBe(200)
  expect(body).toEqual({ status: 'success', accepted: 1, visitor_id: 'visitor-1', session_id: expect.any(String) })
  expect(headers.get('set-cookie')).toMatch(
    new RegExp(`^service_session_id=${body.session_id}; Path=/; Max-Age=1800; HttpOnly; SameSite=Strict; Secure$`),
  )
  const [event] = await events()
  expect(event).toMatchObject({
    event: 'button_click',
    timestamp: at,
    url: `https://${tenant.site}/pricing?plan=pro#top`,
    domain: tenant.site,
    data: {
      title: 'Pricing',
      text: 'Buy “now”\n\t\\',
      class: 'btn primary',
      id: 'buy',
      price: 9.5,
      nested: { a: [null, true] },
    },
    internal_contact_id: null,
    visitor_id: 'visitor-1',
    session_id: body.session_id,
    referrer: 'https://www.news.example/story',
    referring_domain: 'news.example',
    browser: 'Chrome',
    os: 'macOS',
    device_type: 'desktop',
    is_bot: false,
    screen: '1920x1080',
    user_agent: CHROME,
    contact: null,
    company: null,
  })
  expect(event?._id).toBe(event?.event_id)
  const one = await tenant.call('GET', `/v1/events/${event?.event_id}`)
  expect(one.body.event).toEqual(event)
})

test('a response does not wait for ClickHouse, and a read that starts after it sees the events', async () => {
  await fresh()
  const { clickhouse } = service.stores
  const { insert } = clickhouse
  const [inserting, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  clickhouse.insert = async (...args) => {
    inserting.resolve()
    await gate.promise
    return insert(...args)
  }
  onTestFinished(() => {
    clickhouse.insert = insert
    gate.resolve()
  })
  expect((await tenant.track({ visitor_id: 'v', events: [{ event: 'held' }] })).status).toBe(200)
  let isRead = false
  const read = events().finally(() => {
    isRead = true
  })
  await inserting.promise
  // A read that did not wait would finish before a later request.
  expect((await call(service, 'GET', '/v1/health')).status).toBe(200)
  expect(isRead).toBe(false)
  gate.resolve()
  expect(await read).toMatchObject([{ event: 'held' }])
})

test('text/plain holding JSON is accepted, so that a page needs no preflight', async () => {
  await fresh()
  const { status, headers } = await tenant.track(
    { events: [{ event: 'x' }] },
    { 'content-type': 'text/plain;charset=UTF-8' },
  )
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe(`https://${tenant.site}`)
  expect(headers.get('access-control-allow-credentials')).toBe('true')
})

test('a preflight from a verified domain is allowed, from another rejected', async () => {
  await fresh()
  const ask = (origin: string) =>
    call(service, 'OPTIONS', '/track', { headers: { origin, 'access-control-request-method': 'POST' } })
  const allowed = await ask(`https://www.${tenant.site}`)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-methods')).toBe('POST')
  const refused = await ask('https://evil.example')
  expect(refused.status).toBe(403)
  expect(refused.headers.get('access-control-allow-origin')).toBeNull()
})

describe('the page determines the tenant', () => {
  test("a subdomain of a verified domain counts as the tenant's, unless another tenant has verified it", async () => {
    const above = await fresh()
    const response = await above.track(
      { events: [{ event: 'sub' }] },
      { origin: `https://deep.blog.${above.site}:8443` },
    )
    expect(response.status).toBe(200)
    expect(await events()).toHaveLength(1)
  })

  test('without an Origin, the Referer counts', async () => {
    await fresh()
    const body = JSON.stringify({ events: [{ event: 'x' }] })
    const { status } = await call(service, 'POST', '/track', {
      headers: { referer: `https://${tenant.site}/a?b` },
      body,
    })
    expect(status).toBe(200)
  })

  test.each([
    [{}],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'https://example.com' }],
    [{ origin: 'file:///etc/passwd' }],
    [{ origin: `https://${'a.'.repeat(200)}com` }],
    [{ origin: 'https://notshop1.example.com' }],
  ])('%j is 403', async (headers) => {
    const body = JSON.stringify({ events: [{ event: 'x' }] })
    const response = await call(service, 'POST', '/track', { headers: headers as Record<string, string>, body })
    expect([response.status, response.body.error.code]).toEqual([403, 'domain_not_allowed'])
  })

  test('a domain counts only once it is verified', async () => {
    await fresh()
    const { addDomain, addVerifiedDomain } = await import('../../access/domains-of-tenant.ts')
    const domain = `new-${newId()}.example`
    await addDomain(tenant.handle, domain, service.url, new Date())
    const send = () => tenant.track({ events: [{ event: 'x' }] }, { origin: `https://${domain}` })
    expect((await send()).status).toBe(403)
    await addVerifiedDomain(tenant.handle, domain, new Date())
    await expect.poll(async () => (await send()).status).toBe(200)
  })
})

describe('visitor and session', () => {
  test('come from the body, else from the cookies, else are created', async () => {
    await fresh()
    const made = await tenant.track({ events: [{ event: 'x' }] })
    expect(made.body.visitor_id).toMatch(/^[0-9a-f-]{36}$/)
    const cookie = 'a=b; service_visitor_id=cookie-visitor; service_session_id=cookie-session'
    const cookies = await tenant.track({ events: [{ event: 'x' }] }, { cookie })
    expect(cookies.body).toMatchObject({ visitor_id: 'cookie-visitor', session_id: 'cookie-session' })
    const body = await tenant.track({ visitor_id: 'v', session_id: 's', events: [{ event: 'x' }] }, { cookie })
    expect(body.body).toMatchObject({ visitor_id: 'v', session_id: 's' })
  })

  test('a session that the tracker proposes counts unless a cookie names another', async () => {
    await fresh()
    const propose = (session_id: unknown, cookie = '') =>
      tenant.track({ context: { session_id }, events: [{ event: 'x' }] }, { cookie })
    const proposed = await propose('proposed')
    expect(proposed.body.session_id).toBe('proposed')
    expect(proposed.headers.get('set-cookie')).toContain('service_session_id=proposed;')
    expect((await propose('proposed', 'service_session_id=known')).body.session_id).toBe('known')
    for (const unusable of [5, '', 'a b', 'x'.repeat(201), { a: 1 }]) {
      expect((await propose(unusable)).body.session_id, JSON.stringify(unusable)).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test.each([
    [{ origin: 'https://SITE' }, true],
    [{ origin: '', referer: 'https://SITE/page' }, true],
    [{ origin: 'http://SITE' }, false],
    [{ origin: 'http://SITE', referer: 'https://SITE/page' }, false],
  ])('the session cookie of a page with %j is Secure: %s', async (headers, isSecure) => {
    await fresh()
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('SITE', tenant.site)]),
    )
    if (sent.origin === '') delete sent.origin
    const response = await call(service, 'POST', '/track', { headers: sent, body: '{"events":[{"event":"x"}]}' })
    expect(response.status).toBe(200)
    expect(response.headers.get('set-cookie')?.endsWith('; Secure')).toBe(isSecure)
  })
})

describe('repetitions', () => {
  test('an event with an id is recorded once, however often it is sent concurrently', async () => {
    await fresh()
    const batch = {
      visitor_id: 'v',
      events: [
        { event_id: newId().toUpperCase(), event: 'a' },
        { event_id: newId(), event: 'b' },
      ],
    }
    const responses = await Promise.all(Array.from({ length: 20 }, () => tenant.track(batch)))
    expect(responses.map(({ status, body }) => [status, body.accepted])).toEqual(Array(20).fill([200, 2]))
    const again = await tenant.track({ visitor_id: 'v', events: [...batch.events, { event_id: newId(), event: 'c' }] })
    expect(again.body.accepted).toBe(3)
    expect((await events()).map(({ event }) => event).sort()).toEqual(['a', 'b', 'c'])
  })

  test('the same id twice in one batch is one event, and tenants do not share ids', async () => {
    const first = await fresh()
    const event_id = crypto.randomUUID()
    await first.track({
      events: [
        { event_id, event: 'a' },
        { event_id, event: 'a' },
      ],
    })
    expect(await events()).toHaveLength(1)
    const second = await fresh()
    await second.track({ events: [{ event_id, event: 'a' }] })
    expect(await events()).toHaveLength(1)
    expect((await first.call('GET', `/v1/events/${event_id}`)).status).toBe(200)
  })
})

describe('clocks', () => {
  test("a sender's clock that is off by more than a minute is corrected, a smaller difference is not", async () => {
    await fresh()
    /** Sends an event of ten seconds ago by the sender's clock. @returns the bounds of its recorded age. */
    const send = async (offsetMs: number) => {
      const startedAt = Date.now()
      const clock = startedAt + offsetMs
      const event = { event: String(offsetMs), timestamp: new Date(clock - 10_000).toISOString() }
      await tenant.track({ sent_at: new Date(clock).toISOString(), events: [event] })
      const endedAt = Date.now()
      const [recorded] = await events(`event_type=${offsetMs}`)
      const at = Date.parse(String(recorded?.timestamp))
      return [startedAt - at, endedAt - at]
    }
    for (const offsetMs of [-HOUR_MS, -Date.UTC(2020, 0, 1)]) {
      const [youngest = Number.NaN, oldest = Number.NaN] = await send(offsetMs)
      expect(youngest, String(offsetMs)).toBeLessThanOrEqual(10_000)
      expect(oldest, String(offsetMs)).toBeGreaterThanOrEqual(10_000)
    }
    expect((await send(30_000))[0]).toBe(-20_000)
  })

  test('a timestamp more than a day ahead becomes now, and one before 2000 is 400', async () => {
    await fresh()
    const startedAt = Date.now()
    const ahead = await tenant.track({
      events: [{ event: 'x', timestamp: new Date(startedAt + 90_000_000).toISOString() }],
    })
    expect(ahead.status).toBe(200)
    const endedAt = Date.now()
    const [event] = await events()
    const at = Date.parse(String(event?.timestamp))
    expect(at).toBeGreaterThanOrEqual(startedAt)
    expect(at).toBeLessThanOrEqual(endedAt)
    const before = await tenant.track({ events: [{ event: 'x', timestamp: '1999-12-31T23:59:59Z' }] })
    expect(before.status).toBe(400)
  })
})

describe('bad batches', () => {
  const ok = { event: 'fine' }
  test.each([
    ['eleven events', { events: Array(11).fill(ok) }, 'events'],
    ['no events', { events: [] }, 'events'],
    ['events missing', {}, 'events'],
    ['one event without a name', { events: [ok, {}] }, 'events[1].event'],
    ['one empty name', { events: [ok, { event: '' }] }, 'events[1].event'],
    ['a name of 201 characters', { events: [ok, { event: 'x'.repeat(201) }] }, 'events[1].event'],
    ['a broken time', { events: [ok, { event: 'x', timestamp: '2026-13-45T00:00:00Z' }] }, 'events[1].timestamp'],
    [
      'a time without an offset',
      { events: [ok, { event: 'x', timestamp: '2026-01-01T00:00:00' }] },
      'events[1].timestamp',
    ],
    ['a numeric time', { events: [ok, { event: 'x', timestamp: 1 }] }, 'events[1].timestamp'],
    ['an id that is no UUID', { events: [ok, { event: 'x', event_id: 'x' }] }, 'events[1].event_id'],
    ['data that is a list', { events: [ok, { event: 'x', data: [] }] }, 'events[1].data'],
    ['data over 32 KiB', { events: [ok, { event: 'x', data: { a: 'ü'.repeat(17_000) } }] }, 'events[1].data'],
    ['an unknown field', { events: [ok, { event: 'x', evil: 1 }] }, 'events[1].evil'],
    ['an unknown field in the body', { events: [ok], evil: 1 }, 'evil'],
    ['a visitor of 201 characters', { visitor_id: 'v'.repeat(201), events: [ok] }, 'visitor_id'],
    ['a broken sent_at', { sent_at: 'now', events: [ok] }, 'sent_at'],
    ['a NUL', { events: [ok, { event: 'a\u0000' }] }, 'events[1].event'],
    ['a lone surrogate in its id', { events: [ok, { event: 'x', event_id: '\ud800' }] }, 'events[1].event_id'],
    ['a NUL in its time', { events: [ok, { event: 'x', timestamp: '\u0000' }] }, 'events[1].timestamp'],
  ])('%s is 400 and nothing is recorded', async (_name, body, path) => {
    await fresh()
    const response = await tenant.track(body)
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    expect(response.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    expect(await events()).toHaveLength(0)
  })

  test('over 256 KiB is 413, even where each event is small enough', async () => {
    await fresh()
    const large = Array.from({ length: 10 }, () => ({ event: 'x', data: { a: 'y'.repeat(32_000) } }))
    const response = await tenant.track({ events: large })
    expect([response.status, response.body.error.code]).toEqual([413, 'body_too_large'])
  })

  test('a form is 415', async () => {
    await fresh()
    const { status } = await tenant.track({}, { 'content-type': 'multipart/form-data' })
    expect(status).toBe(415)
  })
})

test('hostile texts are returned as sent', async () => {
  await fresh()
  const hostile = [
    "'; DROP TABLE events; --",
    '\\\'"\t\r\n\b',
    '{event: String}',
    '🎉\u2028\u202e',
    '%_\\',
    '<script>alert(1)</script>',
  ]
  await tenant.track({
    events: hostile.map((text) => ({
      event: text,
      url: `https://${tenant.site}/?${text}`,
      data: { text, [text]: text },
    })),
  })
  const list = await events('sort_by=event')
  expect(list.map(({ event }) => event).sort()).toEqual([...hostile].sort())
  for (const text of hostile) {
    const { body } = await tenant.call('GET', `/v1/events?event_type=${encodeURIComponent(text)}`)
    expect(body.events[0].data).toEqual({ text, [text]: text })
  }
})

test('robots are recorded and marked', async () => {
  await fresh()
  await tenant.track({ events: [{ event: 'x' }] }, { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
  expect((await events())[0]).toMatchObject({ is_bot: true })
})

test("the events of a contact's visitor are the contact's, and include the contact and its company", async () => {
  await fresh()
  const company_id = newId()
  const company = { company_id, domain: 'acme.example', name: 'Acme', created_at: new Date(), updated_at: new Date() }
  await tenant.handle.db.insertInto('companies').values(company).execute()
  const id = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: ['v1', 'v2'], company_id })
  await tenant.track({ visitor_id: 'v2', events: [{ event: 'x', title: 'T', url: `https://${tenant.site}/` }] })
  const [event] = await events('identified_only=true')
  expect(event).toMatchObject({
    internal_contact_id: id,
    contact: { _id: id, email: 'ada@example.com', firstname: 'Ada', lastname: null },
    company: { _id: company_id, name: 'Acme', domain: 'acme.example' },
  })
  const { body } = await tenant.call('GET', `/v1/contacts/${id}?events_limit=1`)
  expect(body.total_events).toBe(1)
  expect(body.events).toEqual([
    {
      event_id: event?.event_id,
      _id: event?.event_id,
      event: 'x',
      timestamp: event?.timestamp,
      url: `https://${tenant.site}/`,
      title: 'T',
    },
  ])
})
