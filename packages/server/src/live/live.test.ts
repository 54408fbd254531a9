import { rm } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { openDirectory, startProcess } from '../../test/process.ts'
import {
  call,
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import type { LiveEvent } from './event.ts'
import { startLiveFeed } from './feed.ts'
import { openEventStream } from './stream.ts'

let service: TestService
let tenant: TestTenant
let viewer: Browser
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  viewer = await signedIn(service, tenant.id, 'viewer')
})

/** Opens the feed and collects its events. */
async function watch({ url }: { url: string }, headers: Record<string, string>) {
  const ending = new AbortController()
  const response = await fetch(`${url}/v1/live`, { headers, signal: ending.signal })
  const events: LiveEvent[] = []
  const feed = { status: response.status, headers: response.headers, events, ended: false, end: () => ending.abort() }
  const read = async () => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, data] = /^event: recorded\ndata: (.*)$/.exec(block) ?? []
        if (data !== undefined) events.push(JSON.parse(data))
      }
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      feed.ended = true
    })
  return feed
}

const names = ({ events }: { events: LiveEvent[] }) => events.map(({ event }) => event)

test('events arrive as they are recorded, and none of another tenant', async () => {
  const stranger = await createTestTenant(service)
  const contactId = await tenant.contact('live@example.com', {}, { visitor_id: 'live' })
  const feed = await watch(service, { cookie: viewer.cookie })
  expect(feed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const theirs = await watch(service, { authorization: `Bearer ${stranger.key}` })
  const url = `https://${tenant.site}/live`
  await tenant.track({ visitor_id: 'live', events: [{ event: 'page_view', url, title: 'Live\n\nevent: x' }] })
  await stranger.track({ visitor_id: 'live', events: [{ event: 'theirs' }] })
  await until(() => expect([names(feed), names(theirs)]).toEqual([['page_view'], ['theirs']]))
  expect(feed.events[0]).toEqual({
    event_id: expect.any(String),
    event: 'page_view',
    timestamp: expect.any(String),
    url,
    title: 'Live\n\nevent: x',
    text: null,
    contact_id: contactId,
    visitor_id: 'live',
    browser: 'Chrome',
    is_bot: false,
  })
  feed.end()
  theirs.end()
})

test('an anonymous visitor becomes the contact when it is identified: in the feed, and in what other processes recorded', async () => {
  const later = await createTestTenant(service)
  const feed = await watch(service, { authorization: `Bearer ${later.key}` })
  const visit = (event: string) => later.track({ visitor_id: 'v', events: [{ event }] })
  await visit('before')
  const { contact_id } = (await later.call('POST', '/v1/identify', { visitor_id: 'v', email: 'v@example.com' })).body
  await visit('after')
  await until(() => expect(names(feed)).toEqual(['before', 'after']))
  expect(feed.events.map((event) => event.contact_id)).toEqual([null, contact_id])
  feed.end()

  expect(await contactsElsewhere(later, 2)).toEqual([
    ['before', contact_id],
    ['after', contact_id],
  ])
})

/** The events and their contacts, as a process shows them that recorded none of them. */
async function contactsElsewhere({ id }: TestTenant, count: number): Promise<[string, string | null][]> {
  const polled: LiveEvent[] = []
  // A feed starts a few seconds back. This one starts a minute back, however long the test takes.
  const clock = () => new Date(Date.now() - 60_000)
  const other = startLiveFeed({ stores: service.stores, clock, log: service.log, hasOthers: true })
  const end = other.read(id, 'caller', (event) => polled.push(event))
  await until(() => expect(polled).toHaveLength(count))
  end()
  await other.stop()
  return polled.map((event) => [event.event, event.contact_id])
}

test("a merged contact's events are its survivor's until it is unmerged: in the feed, and in what other processes recorded", async () => {
  const merging = await createTestTenant(service)
  const ada = await merging.contact('ada@example.com')
  const old = await merging.contact('old@example.com', {}, { visitor_id: 'v' })
  const feed = await watch(service, { authorization: `Bearer ${merging.key}` })
  const visit = (event: string) => merging.track({ visitor_id: 'v', events: [{ event }] })
  await visit('before')
  expect((await merging.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
  await visit('merged')
  expect(await contactsElsewhere(merging, 2)).toEqual([
    ['before', ada],
    ['merged', ada],
  ])
  expect((await merging.call('POST', `/v1/contacts/${old}/unmerge`)).status).toBe(200)
  await visit('unmerged')
  await until(() => expect(names(feed)).toEqual(['before', 'merged', 'unmerged']))
  expect(feed.events.map((event) => event.contact_id)).toEqual([old, ada, old])
  feed.end()
  // An event from between the merge and its end stays with the survivor.
  expect(await contactsElsewhere(merging, 3)).toEqual([
    ['before', old],
    ['merged', ada],
    ['unmerged', old],
  ])
})

test('forms and messages appear once they are committed, and old mail does not', async () => {
  const feed = await watch(service, { cookie: viewer.cookie })
  const headers = { origin: `https://${tenant.site}` }
  const body = JSON.stringify({ visitor_id: 'filler', contact_data: { email: 'filler@example.com' } })
  const form = `/v1/public/form-submission/${tenant.id}/f`
  const { contact_id } = (await call(service, 'POST', form, { headers, body })).body
  const message = (message_id: string, sent_at: Date) => ({
    message_id,
    direction: 'inbound',
    from: { address: 'filler@example.com' },
    to: [{ name: 'Support' }],
    sent_at: sent_at.toISOString(),
    text: 'Hello',
  })
  const messages = [message('old', new Date('2025-06-01')), message('new', new Date())]
  await tenant.call('POST', '/v1/sources/helpdesk/conversations', { records: [{ thread_key: 't', messages }] })
  await until(() => expect(names(feed)).toEqual(['form_submission', 'chat_message_received']))
  expect(feed.events).toMatchObject([{ contact_id, visitor_id: 'filler' }, { contact_id }])
  feed.end()
})

test('a feed ends when its key is revoked, its session ends, or its person leaves the tenant', async () => {
  const admin = await signedIn(service, tenant.id, 'admin')
  const { body } = await admin.call('POST', '/v1/api-keys', { name: 'live', scopes: ['events:read'] })
  const leaver = await signedIn(service, tenant.id, 'viewer')
  const signedOut = await signedIn(service, tenant.id, 'viewer')
  const [byKey, left, out, stays] = await Promise.all([
    watch(service, { authorization: `Bearer ${body.api_key}` }),
    watch(service, { cookie: leaver.cookie }),
    watch(service, { cookie: signedOut.cookie }),
    watch(service, { cookie: viewer.cookie }),
  ])
  await admin.call('DELETE', `/v1/api-keys/${body.key_id}`)
  await service.stores.database.deleteFrom('tenant_users').where('user_id', '=', leaver.userId).execute()
  await signedOut.call('POST', '/api/auth/sign-out')
  await until(() => expect([byKey.ended, left.ended, out.ended]).toEqual([true, true, true]))
  expect(stays.ended).toBe(false)
  stays.end()
})

/** Opens feeds until one is rejected. */
async function watchAll(headers: Record<string, string>) {
  const feeds: Awaited<ReturnType<typeof watch>>[] = []
  for (;;) {
    const feed = await watch(service, headers)
    if (feed.status !== 200 || feeds.length > 100) return { feeds, refused: feed }
    feeds.push(feed)
  }
}

test("one key or person can open only some of its tenant's feeds; closing one allows another", async () => {
  const busy = await createTestTenant(service)
  const headers = { authorization: `Bearer ${busy.key}` }
  const { feeds, refused } = await watchAll(headers)
  expect([feeds.length, refused.status, refused.headers.get('retry-after')]).toEqual([10, 429, '60'])
  const response = await busy.call('GET', '/v1/live')
  expect(response.body.error.code).toBe('too_many_live_readers')
  const person = await signedIn(service, busy.id, 'viewer')
  const ofPerson = await watchAll({ cookie: person.cookie })
  expect(ofPerson.feeds.length).toBe(10)
  feeds[0]?.end()
  await until(async () => {
    const next = await watch(service, headers)
    next.end()
    expect(next.status).toBe(200)
  })
  for (const feed of [...feeds, ...ofPerson.feeds]) feed.end()
})

test("a tenant's limit of feeds does not affect other tenants", async () => {
  const busy = await createTestTenant(service)
  const open: Awaited<ReturnType<typeof watch>>[] = []
  for (let key = 0; key < 6; key++) {
    const headers = { authorization: `Bearer ${await busy.keyWith('events:read')}` }
    open.push(...(await watchAll(headers)).feeds)
  }
  expect(open.length).toBe(50)
  const other = await watch(service, { cookie: viewer.cookie })
  expect(other.status).toBe(200)
  for (const feed of [...open, other]) feed.end()
})

test('a process has a limited number of feeds', async () => {
  const feed = startLiveFeed({ stores: service.stores, clock: () => new Date(), log: service.log, hasOthers: false })
  const ends = Array.from({ length: 1_000 }, (_, index) => feed.read(`tenant ${index}`, 'caller', () => {}))
  expect(() => feed.read('one more', 'caller', () => {})).toThrow(/At most 1000 live feeds per process/)
  // Ending one twice allows only one more.
  ends[0]?.()
  ends[0]?.()
  feed.read('one more', 'caller', () => {})
  expect(() => feed.read('another', 'caller', () => {})).toThrow(/At most 1000/)
  await feed.stop()
})

test('a key without the scope opens no feed', async () => {
  const { status, body } = await tenant.call('GET', '/v1/live', undefined, await tenant.keyWith('contacts:read'))
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
})

test('a HEAD opens no feed', async () => {
  const busy = await createTestTenant(service)
  const headers = { authorization: `Bearer ${busy.key}` }
  for (let count = 0; count < 20; count++) {
    expect((await fetch(`${service.url}/v1/live`, { method: 'HEAD', headers })).status).toBe(405)
  }
  const feed = await watch(service, headers)
  expect(feed.status).toBe(200)
  feed.end()
})

test('a reader that does not read misses events instead of filling the memory, and learns how many', async () => {
  let now = 0
  const stream = openEventStream(() => now)
  const event = { event_id: 'e', event: 'x'.repeat(1_000) } as LiveEvent
  for (let count = 0; count < 10_000; count++) {
    now += 100
    stream.send(event)
  }
  expect(stream.readable.readableLength).toBeLessThan(70_000)
  const sent = String(stream.readable.read()).match(/event: recorded/g)?.length ?? 0
  stream.beat()
  expect(String(stream.readable.read())).toContain(`data: {"count":${10_000 - sent}}`)
  // Events over the limit per second are counted as missed too.
  now += 1_000
  for (let count = 0; count < 60; count++) stream.send(event)
  stream.beat()
  expect(String(stream.readable.read())).toContain('data: {"count":10}')
})

test('events that another process records are sent once, and a service that stops ends its feeds', async () => {
  const directory = await openDirectory()
  const front = await startProcess('packages/server/test/clickhouse-front.ts', [directory, '0'], {}, /ready \d+/)
  const port = /ready (\d+)/.exec(front.output())?.[1]
  const here = await startTestService({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
  const { databaseUrl } = here.config
  const there = await startTestService({ CLICKHOUSE_URL: `http://127.0.0.1:${port}`, DATABASE_URL: databaseUrl ?? '' })
  try {
    const shared = await createTestTenant(here)
    const feed = await watch(here, { authorization: `Bearer ${shared.key}` })
    const page = { origin: `https://${shared.site}`, 'content-type': 'application/json' }
    const track = (url: string, event: string) =>
      fetch(`${url}/track`, {
        method: 'POST',
        headers: page,
        body: JSON.stringify({ visitor_id: 'v', events: [{ event }] }),
      })
    await track(here.url, 'here')
    await track(there.url, 'there')
    await until(() => expect(names(feed)).toEqual(['here', 'there']))
    // Two more polls find both again.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(names(feed)).toEqual(['here', 'there'])
    await here.close()
    await until(() => expect(feed.ended).toBe(true))
  } finally {
    await there.close()
    await front.end('SIGKILL')
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
})
