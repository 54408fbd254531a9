import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fail, type IntercomFixture, startIntercom } from '../../../test/intercom.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import {
  createTestTenant,
  refuseUpdates,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createJsonApi, type JsonApi } from '../../platform/outbound/json-api.ts'
import { connectIntercom, describeConnection, disconnectSource, syncSource } from './connection.ts'
import { pullIntercom } from './pull.ts'

const ACTOR = { kind: 'service' } as const
const WITHIN = { timeout: 120_000, interval: 100 }
const NOW = Math.floor(Date.now() / 1000)

let intercom: IntercomFixture
let service: TestService
let api: JsonApi
let tenant: TestTenant

beforeAll(async () => {
  const certificate = makeCertificate()
  intercom = await startIntercom(certificate)
  const outbound = { allowPrivate: true, ca: certificate.certificate }
  api = createJsonApi(outbound)
  service = await startTestService({}, { outbound, intercomUrl: intercom.url })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  Object.assign(intercom, {
    contacts: [],
    conversations: [],
    asked: [],
    refused: 0,
    limit: 1_000,
    intercept: () => false,
  })
})
afterAll(async () => {
  await service?.close()
  await api?.close()
  await intercom?.close()
})

const contact = (n: number, more: object = {}) => ({
  type: 'contact',
  id: `c${n}`,
  role: 'user',
  email: `person${n}@example.com`,
  name: `Person Number ${n}`,
  phone: null,
  location: { type: 'location', country: 'Ireland', region: 'Dublin', city: 'Dublin' },
  created_at: NOW - 100_000,
  updated_at: NOW - 10_000 + n,
  ...more,
})
const part = (id: string, author: object, more: object = {}) => ({
  type: 'conversation_part',
  id,
  part_type: 'comment',
  body: `<p>Part ${id}</p>`,
  created_at: NOW - 5_000,
  author,
  attachments: [],
  redacted: false,
  ...more,
})
const user = (n: number) => ({ type: 'user', id: `c${n}`, name: `Person Number ${n}`, email: `person${n}@example.com` })
const ADMIN = { type: 'admin', id: '9', name: 'Sam', email: 'sam@ours.example' }
const conversation = (n: number, parts: object[] = [], more: object = {}) => ({
  type: 'conversation',
  id: `${1000 + n}`,
  title: null,
  created_at: NOW - 6_000,
  updated_at: NOW - 4_000 + n,
  source: { type: 'conversation', id: `s${n}`, subject: '', body: '<p>Hello</p>', author: user(n), attachments: [] },
  contacts: { type: 'contact.list', contacts: [{ type: 'contact', id: `c${n}` }] },
  conversation_parts: { type: 'conversation_part.list', conversation_parts: parts, total_count: parts.length },
  ...more,
})

const dependencies = () => ({ secrets: service.secrets, api, intercomUrl: intercom.url })
const connect = (token = intercom.token) =>
  connectIntercom(tenant.handle, dependencies(), ACTOR, { token, region: 'us' }, new Date())
const status = () => describeConnection(tenant.handle, 'intercom')

/** Waits until a running service has pulled everything. */
async function pulled(after: string | null = null): Promise<void> {
  await expect.poll(async () => ((await status()).synced_at ?? '') > (after ?? ''), WITHIN).toBe(true)
}

async function byEmail(email: string): Promise<string> {
  const query = tenant.handle.db.selectFrom('contacts').select('contact_id').where('email', '=', email)
  return (await query.executeTakeFirstOrThrow()).contact_id
}

async function conversations(contactId: string) {
  const path = `/v1/contacts/${contactId}/conversations?include_messages=true&messages_per_thread=50`
  return (await tenant.call('GET', path)).body.conversations
}

test('contacts and conversations are pulled over several pages, within the rate limit', async () => {
  intercom.limit = 60
  intercom.contacts = Array.from({ length: 310 }, (_, n) => contact(n))
  intercom.conversations = Array.from({ length: 160 }, (_, n) => conversation(n))
  expect(await connect()).toMatchObject({ source: 'intercom', region: 'us', workspace: 'Workspace', error: null })
  await pulled()
  expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(310)
  const id = await byEmail('person7@example.com')
  const { body } = await tenant.call('GET', `/v1/contacts/${id}?include=raw`)
  expect(body.contact).toMatchObject({
    creation_source: 'intercom',
    properties: { firstname: 'Person', lastname: 'Number 7', city: 'Dublin', country: 'Ireland' },
  })
  expect(body.unified_profile.sources.intercom).toMatchObject({ external_id: 'c7', synced_at: expect.any(String) })
  expect(body.unified_profile.raw_data.intercom).toMatchObject({ role: 'user', id: 'c7' })
  const threads = await tenant.handle.db.selectFrom('conversation_threads').select('thread_id').execute()
  expect(threads).toHaveLength(160)
  const pages = intercom.asked.filter(({ path }) => path === '/contacts/search')
  expect(pages.map(({ body: { pagination } }) => pagination?.per_page)).toEqual([150, 150, 150])
  expect(new Set(pages.map(({ body: { pagination } }) => pagination?.starting_after)).size).toBe(3)
})

test('a conversation has its messages without internal notes, with sanitised HTML, and belongs to its contact', async () => {
  intercom.contacts = [contact(1), contact(2, { email: null, role: 'lead' }), contact(3, { email: 'not an address' })]
  intercom.conversations = [
    conversation(1, [
      part('1', ADMIN, { body: '<p onclick="x()">How can I help?</p><script>x</script>', created_at: NOW - 5_000 }),
      part('2', ADMIN, { part_type: 'note', body: '<p>Difficult customer</p>' }),
      part('3', ADMIN, { part_type: 'assignment', body: null }),
      part('4', user(1), {
        created_at: NOW - 4_500,
        attachments: [{ type: 'upload', name: 'a.png', content_type: 'image/png', filesize: 7, url: 'https://x' }],
      }),
      part('5', user(1), { redacted: true }),
      part(
        '6',
        { type: 'bot', id: '1', name: 'Fin', email: 'operator@intercom.io' },
        { body: '<p>Bye\u0000 \ud83d</p>', created_at: NOW - 4_000 },
      ),
    ]),
    conversation(2, [], {
      title: 'Campaign',
      source: { type: 'conversation', id: 's', subject: '<p>Sale</p>', body: '<p>Buy</p>', author: ADMIN },
    }),
  ]
  await connect()
  await pulled()
  const first = await byEmail('person1@example.com')
  const [thread] = await conversations(first)
  expect(thread).toMatchObject({ channel: 'chat', source: 'intercom', subject: null, message_count: 4 })
  expect(thread.messages).toMatchObject([
    { message_id: 'part-6', direction: 'outbound', text: 'Bye \ufffd', from: { name: 'Fin' } },
    { message_id: 'part-4', direction: 'inbound', attachments: [{ filename: 'a.png', bytes: 7 }] },
    { message_id: 'part-1', direction: 'outbound', html: '<p>How can I help?</p>', text: 'How can I help?' },
    { message_id: 'source-1001', direction: 'inbound', text: 'Hello', from: { address: 'person1@example.com' } },
  ])
  const { body } = await tenant.call('GET', `/v1/contacts/events/${first}`)
  expect(body.events.map(({ event }: { event: string }) => event).sort()).toEqual([
    'chat_message_received',
    'chat_message_received',
    'chat_message_sent',
    'chat_message_sent',
  ])
  // A lead without an address is identified by its id.
  const sources = await tenant.handle.db
    .selectFrom('contact_sources')
    .select(['contact_id', 'external_id', 'kind'])
    .execute()
  expect(sources.map(({ kind }) => kind)).toEqual(['messaging', 'messaging', 'messaging'])
  const lead = sources.find(({ external_id }) => external_id === 'c2')?.contact_id ?? ''
  expect(await conversations(lead)).toMatchObject([{ subject: 'Campaign', messages: [{ text: 'Buy' }] }])
})

test('the next pull requests only changes and creates no duplicates', async () => {
  intercom.contacts = [contact(1)]
  intercom.conversations = [conversation(1)]
  await connect()
  await pulled()
  const { synced_at } = await status()
  intercom.asked = []
  intercom.conversations = [
    conversation(1, [part('1', user(1))], { updated_at: NOW + 60 }),
    conversation(2, [], { updated_at: NOW - 90_000 }),
  ]
  intercom.contacts = [contact(1, { updated_at: NOW + 60, name: 'Ada Lovelace' })]
  await syncSource(tenant.handle, 'intercom', new Date())
  await pulled(synced_at)
  const searches = intercom.asked.filter(({ path }) => path.endsWith('/search'))
  expect(searches.map(({ body }) => (body.query?.value ?? 0) > NOW - 100_000)).toEqual([true, true])
  expect(intercom.asked.map(({ path }) => path)).toContain('/conversations/1001')
  expect(intercom.asked.map(({ path }) => path)).not.toContain('/conversations/1002')
  const [thread] = await conversations(await byEmail('person1@example.com'))
  expect(thread.messages.map(({ message_id }: { message_id: string }) => message_id)).toEqual(['part-1', 'source-1001'])
  const { body } = await tenant.call('GET', `/v1/contacts/${await byEmail('person1@example.com')}`)
  expect(body.contact.properties.firstname).toBe('Ada')
})

describe('a manual pull', () => {
  const pull = () =>
    pullIntercom(
      tenant.handle,
      { writing: service.writing, ...dependencies(), pullMinutes: 10 },
      new AbortController().signal,
    )

  /** Connects without a due pull, so that the running service does nothing. */
  async function connectQuietly(): Promise<void> {
    const later = new Date(Date.now() + 3_600_000)
    await connectIntercom(tenant.handle, dependencies(), ACTOR, { token: intercom.token, region: 'eu' }, later)
  }

  test('resumes where it was interrupted', async () => {
    intercom.contacts = Array.from({ length: 320 }, (_, n) => contact(n))
    intercom.conversations = [conversation(1)]
    await connectQuietly()
    intercom.intercept = ({ path, body }, response) => {
      const isThird = path === '/contacts/search' && intercom.asked.filter((each) => each.path === path).length === 3
      if (isThird && body.pagination?.starting_after) response.destroy()
      return isThird
    }
    await expect(pull()).rejects.toThrow()
    expect(await status()).toMatchObject({ state: 'failed', error: expect.stringMatching(/could not be reached/) })
    const cursors = () => intercom.asked.map(({ body }) => body.pagination?.starting_after)
    const brokenOffAt = cursors().at(-1)
    Object.assign(intercom, { asked: [], intercept: () => false })
    await pull()
    expect(cursors()[0]).toBe(brokenOffAt)
    expect(await status()).toMatchObject({ state: 'waiting', error: null, synced_at: expect.any(String) })
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(320)
  })

  test('restarts its search if the cursor has expired', async () => {
    intercom.contacts = Array.from({ length: 200 }, (_, n) => contact(n))
    await connectQuietly()
    const run = { startedAt: NOW, phase: 'contacts', cursor: 'gone' }
    const position = JSON.stringify({ contactsAfter: 0, conversationsAfter: 0, run })
    await tenant.handle.db.updateTable('messaging_connections').set({ position }).execute()
    await pull()
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(200)
  })

  test('waits when it is rate-limited, and is rescheduled if the wait is long', async () => {
    intercom.contacts = [contact(1)]
    await connectQuietly()
    let refusals = 2
    intercom.intercept = (_, response) => {
      if (refusals-- <= 0) return false
      response.setHeader('x-ratelimit-reset', String(Math.ceil(Date.now() / 1000)))
      fail(response, 429, 'rate_limit_exceeded', 'Exceeded rate limit')
      return true
    }
    await pull()
    expect(await byEmail('person1@example.com')).toBeDefined()
    const reset = NOW + 600
    intercom.intercept = (_, response) => {
      response.setHeader('x-ratelimit-reset', String(reset))
      fail(response, 429, 'rate_limit_exceeded', 'Exceeded rate limit')
      return true
    }
    await pull()
    expect(await status()).toMatchObject({ state: 'waiting', next_pull_at: new Date(reset * 1000).toISOString() })
  })

  test("stores Intercom's reply to a rejected token, without the token", async () => {
    await connectQuietly()
    const before = intercom.token
    intercom.token = 'another-token-of-the-workspace'
    try {
      await pull()
      expect(await status()).toMatchObject({
        state: 'failed',
        error: 'Intercom responded with status 401: Access Token Invalid',
      })
    } finally {
      intercom.token = before
    }
    const row = await tenant.handle.db.selectFrom('messaging_connections').selectAll().executeTakeFirst()
    expect(JSON.stringify(row) + service.logged.join()).not.toContain(before)
  })

  test('reports a token that was encrypted with a removed key', async () => {
    await connectQuietly()
    await tenant.handle.db.updateTable('messaging_connections').set({ sealed: 'v1.000000000000.AAAA' }).execute()
    await pull()
    expect(await status()).toMatchObject({ state: 'failed', error: expect.stringContaining('CDS_SECRET_KEY') })
  })

  test('survives invalid responses', async () => {
    await connectQuietly()
    intercom.contacts = [
      { id: null, updated_at: NOW },
      { id: 'x'.repeat(300), updated_at: NOW },
      contact(1, { name: { first: 'x' }, location: 7 }),
    ]
    intercom.conversations = [
      conversation(1, [], {
        source: 'x',
        contacts: [null, 7],
        conversation_parts: { conversation_parts: [7, { part_type: 'comment', body: {} }] },
      }),
      conversation(2, [part('1', user(1), { created_at: 1e300 }), part('2', user(1), { author: null })]),
    ]
    await pull()
    expect((await status()).state).toBe('waiting')
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
  })
})

test('a connection that the database refuses to change does not block others', async () => {
  const isScheduled = sql`old.tenant_id = ${sql.lit(tenant.id)} AND new.next_pull_at > old.next_pull_at`
  const end = await refuseUpdates(service.stores.database, 'messaging_connections', isScheduled)
  try {
    await connect()
    tenant = await createTestTenant(service)
    await connect()
    await pulled()
  } finally {
    await end()
  }
})

test('a token is checked before it is stored, and errors name the problem', async () => {
  await expect(connect('wrong-token-of-somebody')).rejects.toMatchObject({
    status: 400,
    code: 'intercom_login_failed',
    message: 'Intercom responded with status 401: Access Token Invalid',
  })
  await expect(connect('short')).rejects.toMatchObject({ code: 'validation_error' })
  await expect(
    connectIntercom(tenant.handle, dependencies(), ACTOR, { token: intercom.token, region: 'moon' }, new Date()),
  ).rejects.toMatchObject({ code: 'validation_error' })
  await expect(status()).rejects.toMatchObject({ status: 404 })
  await connect()
  const log = await tenant.handle.db.selectFrom('audit_log').select(['action', 'details']).execute()
  expect(log).toEqual([{ action: 'source.connected', details: { region: 'us', workspace: 'Workspace' } }])
  await disconnectSource(tenant.handle, ACTOR, 'intercom', new Date())
  await expect(status()).rejects.toMatchObject({ status: 404 })
  await expect(disconnectSource(tenant.handle, ACTOR, 'intercom', new Date())).rejects.toMatchObject({ status: 404 })
})

test('calls to private addresses are refused, also after DNS resolution', async () => {
  const guarded = createJsonApi({ allowPrivate: false, resolve: async () => [{ address: '10.0.0.7', family: 4 }] })
  try {
    for (const url of [
      intercom.url,
      'https://127.0.0.1/me',
      'https://api.intercom.example/me',
      'http://api.intercom.io/me',
    ]) {
      await expect(guarded.call({ method: 'GET', url, headers: {} })).rejects.toMatchObject({ code: 'url_not_allowed' })
    }
  } finally {
    await guarded.close()
  }
})
