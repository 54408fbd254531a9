import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectedTo } from '../../../test/connected-system.ts'
import { reaches, runOf } from '../../../test/connection-rows.ts'
import { fail, type IntercomFixture, startIntercom } from '../../../test/intercom.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import {
  createTestTenant,
  refuseUpdates,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createJsonApi } from '../../platform/outbound/json-api.ts'
import { intercom as connector } from './intercom.ts'

const WITHIN = { timeout: 120_000, interval: 20 }
const NOW = Math.floor(Date.now() / 1000)

let intercom: IntercomFixture
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  intercom = await startIntercom(makeCertificate())
  service = await startTestService({}, connectedTo(intercom, 'intercom'))
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

const create = (more: object = {}) =>
  tenant.call('POST', '/v1/connections', {
    connector: 'intercom',
    credentials: { access_token: intercom.token },
    ...more,
  })

/** @returns the path of the new connection. */
async function connect(more: object = {}): Promise<string> {
  const { status, body } = await create(more)
  expect(status).toBe(201)
  return `/v1/connections/${body.connection.connection_id}`
}

function idIn(connection: string): string {
  return connection.split('/').at(-1) ?? ''
}

async function read(connection: string) {
  return (await tenant.call('GET', connection)).body.connection
}

/** Waits until the service has pulled everything in another run than `before`. @returns the connection. */
async function pulled(connection: string, before?: string) {
  await runOf(tenant, idIn(connection), before, 'wait')
  return read(connection)
}

async function inState(connection: string, state: string) {
  await reaches(tenant, idIn(connection), state)
  return read(connection)
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
  const { status, body: created } = await create({ settings: { region: 'us' } })
  expect(status).toBe(201)
  const described = { connector: 'intercom', source: 'intercom', settings: { region: 'us' }, account: 'Workspace' }
  expect(created.connection).toMatchObject({ ...described, error: null })
  const { last_run } = await pulled(`/v1/connections/${created.connection.connection_id}`)
  expect(last_run.counts).toEqual({ contacts: { created: 310 }, conversations: { recorded: 160 } })
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

test('a conversation has its messages without internal notes, with sanitized HTML, and belongs to its contact', async () => {
  intercom.contacts = [contact(1), contact(2, { email: null, role: 'lead' })]
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
  await pulled(await connect())
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
  expect(sources.map(({ kind }) => kind)).toEqual(['messaging', 'messaging'])
  const lead = sources.find(({ external_id }) => external_id === 'c2')?.contact_id ?? ''
  expect(await conversations(lead)).toMatchObject([{ subject: 'Campaign', messages: [{ text: 'Buy' }] }])
})

test('who unsubscribed, complained or bounced there is not written to here, until they subscribe again', async () => {
  intercom.contacts = [
    contact(1, { unsubscribed_from_emails: true }),
    contact(2, { marked_email_as_spam: true }),
    contact(3, { has_hard_bounced: true }),
    contact(4, { unsubscribed_from_emails: false, marked_email_as_spam: false, has_hard_bounced: false }),
  ]
  const connection = await connect()
  const { last_run } = await pulled(connection)
  const rules = async () => {
    const { contacts } = (await tenant.call('GET', '/v1/contacts?fields=email,consent&sort_by=email&sort_dir=asc')).body
    return contacts.map(({ consent }: { consent: { rule: string } | null }) => consent?.rule ?? null)
  }
  expect(await rules()).toEqual(['unsubscribed', 'unsubscribed', 'bounced', null])
  intercom.contacts = [contact(1, { unsubscribed_from_emails: false, updated_at: NOW + 60 })]
  expect((await tenant.call('POST', `${connection}/pull`)).status).toBe(202)
  await pulled(connection, last_run.run_id)
  expect(await rules()).toEqual([null, 'unsubscribed', 'bounced', null])
})

test('a record with a malformed address is an error, one with a blank address is not', async () => {
  intercom.contacts = [contact(1, { email: 'ada(at)example.com' }), contact(2, { email: ' ' })]
  const connection = await connect()
  expect((await pulled(connection)).last_run.counts.contacts).toEqual({ created: 1, failed: 1 })
  const { errors } = (await tenant.call('GET', `${connection}/errors`)).body
  expect(errors).toMatchObject([
    {
      object: 'contacts',
      external_id: 'c1',
      code: 'invalid_email',
      message: expect.stringContaining('ada(at)example.com'),
    },
  ])
})

test('the next pull requests only changes and creates no duplicates', async () => {
  intercom.contacts = [contact(1)]
  intercom.conversations = [conversation(1)]
  const connection = await connect()
  const { last_run } = await pulled(connection)
  intercom.asked = []
  intercom.conversations = [
    conversation(1, [part('1', user(1))], { updated_at: NOW + 60 }),
    conversation(2, [], { updated_at: NOW - 90_000 }),
  ]
  intercom.contacts = [contact(1, { updated_at: NOW + 60, name: 'Ada Lovelace' })]
  expect((await tenant.call('POST', `${connection}/pull`)).status).toBe(202)
  const { counts } = (await pulled(connection, last_run.run_id)).last_run
  expect(counts).toEqual({ contacts: { updated: 1 }, conversations: { known: 1, recorded: 1 } })
  const searches = intercom.asked.filter(({ path }) => path.endsWith('/search'))
  expect(searches.map(({ body }) => (body.query?.value ?? 0) > NOW - 100_000)).toEqual([true, true])
  expect(intercom.asked.map(({ path }) => path)).toContain('/conversations/1001')
  expect(intercom.asked.map(({ path }) => path)).not.toContain('/conversations/1002')
  const [thread] = await conversations(await byEmail('person1@example.com'))
  expect(thread.messages.map(({ message_id }: { message_id: string }) => message_id)).toEqual(['part-1', 'source-1001'])
  const { body } = await tenant.call('GET', `/v1/contacts/${await byEmail('person1@example.com')}`)
  expect(body.contact.properties.firstname).toBe('Ada')
})

test('everything read again changes nothing', async () => {
  intercom.contacts = [contact(1)]
  intercom.conversations = [conversation(1, [part('1', ADMIN)])]
  const connection = await connect()
  const { last_run } = await pulled(connection)
  expect((await tenant.call('POST', `${connection}/reread`, {})).status).toBe(202)
  const { counts } = (await pulled(connection, last_run.run_id)).last_run
  expect(counts).toEqual({ contacts: { unchanged: 1 }, conversations: { known: 2 } })
  const events = await tenant.call('GET', `/v1/contacts/events/${await byEmail('person1@example.com')}`)
  expect(events.body.events).toHaveLength(2)
})

test('the messages of a second workspace belong to its own source', async () => {
  intercom.contacts = [contact(1, { email: null })]
  const person = { ...user(1), email: null }
  const source = { type: 'conversation', id: 's', subject: '', body: '<p>Hi</p>', author: person }
  intercom.conversations = [conversation(1, [], { source })]
  await pulled(await connect())
  await pulled(await connect({ source: 'intercom-eu', settings: { region: 'eu' } }))
  const known = await tenant.handle.db.selectFrom('contact_sources').select(['contact_id', 'source']).execute()
  expect(known.map(({ source: name }) => name).sort()).toEqual(['intercom', 'intercom-eu'])
  for (const { contact_id, source: name } of known) {
    expect(await conversations(contact_id)).toMatchObject([{ source: name, message_count: 1 }])
  }
})

describe('a pull', () => {
  test('resumes where it was interrupted', async () => {
    intercom.contacts = Array.from({ length: 320 }, (_, n) => contact(n))
    intercom.conversations = [conversation(1)]
    intercom.intercept = ({ path, body }, response) => {
      const isThird = path === '/contacts/search' && intercom.asked.filter((each) => each.path === path).length === 3
      if (isThird && body.pagination?.starting_after) response.destroy()
      return isThird
    }
    const connection = await connect()
    expect(await inState(connection, 'failed')).toMatchObject({ error: expect.stringMatching(/could not be reached/) })
    const cursors = () => intercom.asked.map(({ body }) => body.pagination?.starting_after)
    const brokenOffAt = cursors().at(-1)
    expect(brokenOffAt).toEqual(expect.any(String))
    Object.assign(intercom, { asked: [], intercept: () => false })
    await tenant.call('POST', `${connection}/pull`)
    expect(await pulled(connection)).toMatchObject({
      error: null,
      last_run: { counts: { contacts: { created: 320 }, conversations: { recorded: 1 } } },
    })
    expect(cursors()[0]).toBe(brokenOffAt)
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(320)
  })

  test('repeats a search that fails with a server error', async () => {
    intercom.contacts = [contact(1)]
    let failures = 1
    intercom.intercept = ({ path }, response) => {
      if (path !== '/contacts/search' || failures-- <= 0) return false
      fail(response, 503, 'service_unavailable', 'Try again later')
      return true
    }
    await pulled(await connect())
    expect(await byEmail('person1@example.com')).toBeDefined()
    expect(intercom.asked.filter(({ path }) => path === '/contacts/search')).toHaveLength(2)
  })

  test('restarts its search if the cursor has expired', async () => {
    intercom.contacts = Array.from({ length: 200 }, (_, n) => contact(n))
    let refusals = 1
    intercom.intercept = ({ body }, response) => {
      if (body.pagination?.starting_after === undefined || refusals-- <= 0) return false
      fail(response, 400, 'parameter_invalid', 'starting_after is not valid')
      return true
    }
    const { last_run } = await pulled(await connect())
    expect(last_run.counts.contacts).toEqual({ created: 200, unchanged: 150 })
    const searches = intercom.asked.filter(({ path }) => path === '/contacts/search')
    const hasCursor = searches.map(({ body }) => body.pagination?.starting_after !== undefined)
    expect(hasCursor).toEqual([false, true, false, true])
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(200)
  })

  test('waits when it is rate-limited', async () => {
    intercom.contacts = [contact(1)]
    /** How long each window lasts, when its request came, and when the next one. */
    const windows: { leftMs: number; at: number; nextAt?: number }[] = []
    intercom.intercept = ({ path }, response) => {
      if (path === '/me') return false
      const last = windows.at(-1)
      if (last) last.nextAt ??= intercom.timer.now()
      if (windows.length === 2) return false
      const end = Math.ceil(Date.now() / 1_000) + 1
      windows.push({ leftMs: end * 1_000 - Date.now(), at: intercom.timer.now() })
      response.setHeader('x-ratelimit-reset', String(end))
      fail(response, 429, 'rate_limit_exceeded', 'Exceeded rate limit')
      return true
    }
    await pulled(await connect())
    expect(await byEmail('person1@example.com')).toBeDefined()
    // The clock and the timer are read one after another.
    expect(windows.map(({ leftMs, at, nextAt = 0 }) => nextAt - at > leftMs - 10)).toEqual([true, true])
  })

  test.for([429, 200])('is rescheduled if the wait that status %d asks for is long', async (status) => {
    const reset = NOW + 3_600
    intercom.intercept = ({ path }, response) => {
      if (path === '/me') return false
      response.setHeader('x-ratelimit-remaining', '0')
      response.setHeader('x-ratelimit-reset', String(reset))
      if (status === 200) return false
      fail(response, status, 'rate_limit_exceeded', 'Exceeded rate limit')
      return true
    }
    const connection = await connect()
    await expect
      .poll(async () => (await read(connection)).next_pull_at, WITHIN)
      .toBe(new Date(reset * 1000).toISOString())
    expect(await read(connection)).toMatchObject({ state: 'waiting', error: null, last_run: { finished_at: null } })
  })

  test("stores Intercom's reply to a rejected token, without the token", async () => {
    const { token } = intercom
    let reply = 'Access Token Invalid'
    intercom.intercept = ({ path }, response) => {
      if (path === '/me') return false
      fail(response, 401, 'unauthorized', reply)
      return true
    }
    const connection = await connect()
    const { error } = await inState(connection, 'signed_out')
    expect(error).toBe('Intercom responded with status 401: Access Token Invalid')
    reply = `The token ${token} is no longer valid`
    await tenant.call('PATCH', connection, { credentials: { access_token: token } })
    await expect.poll(async () => (await read(connection)).error, WITHIN).toContain('The token [secret] is no longer')
    const responses = [(await tenant.call('GET', connection)).body, (await tenant.call('GET', '/v1/audit-log')).body]
    const rows = await tenant.handle.db.selectFrom('connections').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify([responses, rows]) + service.logged.join()).not.toContain(token)
  })

  test('reports a token that was encrypted with a removed key', async () => {
    const connection = await connect()
    await pulled(connection)
    await tenant.handle.db.updateTable('connections').set({ sealed: 'v1.000000000000.AAAA' }).execute()
    await tenant.call('POST', `${connection}/pull`)
    const { error } = await inState(connection, 'signed_out')
    expect(error).toContain('CDS_SECRET_KEY')
  })

  test('survives invalid responses', async () => {
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
    const connection = await connect()
    await pulled(connection)
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
    const { errors } = (await tenant.call('GET', `${connection}/errors`)).body
    expect(errors).toMatchObject([
      { object: 'contacts', external_id: expect.stringMatching(/^x{200}/), code: 'validation_error' },
    ])
  })

  test('skips a conversation that was deleted after the search found it', async () => {
    intercom.conversations = [conversation(1), conversation(2)]
    intercom.intercept = ({ path }, response) => {
      if (path !== '/conversations/1001') return false
      fail(response, 404, 'not_found', 'Resource Not Found')
      return true
    }
    const { last_run } = await pulled(await connect())
    expect(last_run.counts.conversations).toEqual({ recorded: 1 })
  })

  test('lists a conversation that Intercom refuses, and reads the others', async () => {
    intercom.conversations = [conversation(1), conversation(2)]
    intercom.intercept = ({ path }, response) => {
      if (path !== '/conversations/1001') return false
      fail(response, 422, 'unprocessable', 'The conversation has too many parts')
      return true
    }
    const connection = await connect()
    const { last_run } = await pulled(connection)
    expect(last_run.counts.conversations).toEqual({ recorded: 1, failed: 1 })
    const { errors } = (await tenant.call('GET', `${connection}/errors`)).body
    expect(errors).toMatchObject([{ object: 'conversations', external_id: '1001', code: 'conversation_not_readable' }])
    expect(errors[0].message).toContain('too many parts')
  })

  test.for([402, 403])('a %i refuses all conversations: they are read once it is gone', async (status) => {
    intercom.conversations = [conversation(1), conversation(2)]
    intercom.intercept = ({ path }, response) => {
      if (!path.startsWith('/conversations/1')) return false
      fail(response, status, 'api_plan_restricted', 'Active subscription needed.')
      return true
    }
    const connection = await connect()
    expect((await inState(connection, 'failed')).error).toContain('conversations: Intercom responded with status')
    expect((await tenant.call('GET', `${connection}/errors`)).body.errors).toEqual([])
    intercom.intercept = () => false
    await tenant.call('POST', `${connection}/pull`)
    const { last_run } = await pulled(connection)
    expect(last_run.counts.conversations).toEqual({ recorded: 2 })
  })
})

test('a connection that the database refuses to change does not block others', async () => {
  const isScheduled = sql`old.tenant_id = ${sql.lit(tenant.id)} AND new.next_pull_at > old.next_pull_at`
  const end = await refuseUpdates(service.stores.database, 'connections', isScheduled)
  try {
    await connect()
    tenant = await createTestTenant(service)
    await pulled(await connect())
  } finally {
    await end()
  }
})

test('a token is checked before it is stored, and errors name the problem', async () => {
  expect(await create({ credentials: { access_token: 'wrong-token-of-somebody' } })).toMatchObject({
    status: 400,
    body: {
      error: { code: 'connection_refused', message: 'Intercom responded with status 401: Access Token Invalid' },
    },
  })
  for (const [wrong, path] of [
    [{ credentials: { access_token: 'two words' } }, 'credentials.access_token'],
    [{ credentials: {} }, 'credentials.access_token'],
    [{ settings: { region: 'moon' } }, 'settings.region'],
    [{ source: 'email' }, 'source'],
  ] as const) {
    const { status, body } = await create(wrong)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
  }
  expect((await tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
  const connection = await connect({ settings: { region: 'eu' } })
  const log = await tenant.handle.db.selectFrom('audit_log').select(['action', 'details']).execute()
  const details = { connector: 'intercom', source: 'intercom', account: 'Workspace' }
  expect(log).toEqual([{ action: 'connection.created', details }])
  expect((await tenant.call('DELETE', connection)).status).toBe(200)
  expect((await tenant.call('GET', connection)).status).toBe(404)
  expect((await tenant.call('DELETE', connection)).status).toBe(404)
})

test('each region has its own host', () => {
  const regions = ['us', 'eu', 'au'].map((region) => ({ region }))
  expect([{}, ...regions].map(connector.baseUrl)).toEqual([
    'https://api.intercom.io',
    'https://api.intercom.io',
    'https://api.eu.intercom.io',
    'https://api.au.intercom.io',
  ])
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
