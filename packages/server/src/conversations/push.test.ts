import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
const PATH = '/v1/sources/helpdesk/conversations'

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const message = (id: string, more: object = {}) => ({
  message_id: id,
  direction: 'inbound',
  from: { address: 'ada@example.com', name: 'Ada' },
  to: [{ name: 'Support' }],
  sent_at: '2026-01-31T08:00:00Z',
  text: `text of ${id}`,
  ...more,
})
const conversation = (key: string, messages: object[], more: object = {}) => ({ thread_key: key, messages, ...more })

async function push(...records: unknown[]) {
  const { status, body } = await tenant.call('POST', PATH, { records })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

async function read(contactId: string, query = 'include_messages=true') {
  return (await tenant.call('GET', `/v1/contacts/${contactId}/conversations?${query}`)).body
}

test('one conversation is read with a page of its messages, newest first, by the contacts who take part', async () => {
  const [ada, bob] = [await tenant.contact('ada@example.com'), await tenant.contact('bob@example.com')]
  const messages = ['1', '2', '3'].map((id) => message(id, { sent_at: `2026-01-31T08:0${id}:00Z` }))
  const { thread_id } = (await push(conversation('t', messages, { subject: 'Help' }))).results[0]
  const get = (contactId: string, query = '') =>
    tenant.call('GET', `/v1/contacts/${contactId}/conversations/${thread_id}${query}`)
  const { body } = await get(ada)
  const [listed] = (await read(ada, 'include_messages=true')).conversations
  expect(body.conversation).toEqual(listed)
  const second = (await get(ada, '?page=2&limit=2')).body
  expect(second.conversation.messages).toMatchObject([{ message_id: '1' }])
  expect(second.pagination).toMatchObject({ page: 2, total_items: 3, total_pages: 2 })
  for (const contactId of [bob, newId()]) {
    const { status, body } = await get(contactId)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  expect((await tenant.call('GET', `/v1/contacts/${ada}/conversations/${newId()}`)).status).toBe(404)
  await tenant.call('POST', `/v1/contacts/${bob}/merge`, { into: ada })
  expect((await get(bob)).body.error.code).toBe('contact_merged')
  const threads = await tenant.call('GET', `/v1/contacts/${bob}/email-threads`)
  expect([threads.status, threads.body.error.code]).toEqual([404, 'contact_merged'])
})

test('a conversation is created, extended, and unchanged by repeated messages', async () => {
  const ada = await tenant.contact('ada@example.com')
  const reply = message('2', {
    direction: 'outbound',
    from: { name: 'Sam' },
    to: [{ address: 'ada@example.com' }],
    sent_at: '2026-01-31T09:00:00+01:00',
    html: '<p onclick="x">Yes</p>',
  })
  const first = await push(conversation('t', [message('1')], { subject: 'Help' }))
  expect(first).toEqual({
    status: 'success',
    results: [{ index: 0, thread_key: 't', status: 'created', thread_id: expect.any(String), recorded: 1 }],
    failed: 0,
  })
  expect((await push(conversation('t', [message('1')]))).results[0]).toMatchObject({ status: 'unchanged', recorded: 0 })
  const grown = await push(conversation('t', [message('1'), reply], { subject: 'Solved' }))
  expect(grown.results[0]).toMatchObject({ status: 'updated', recorded: 1, thread_id: first.results[0].thread_id })
  expect(await read(ada)).toEqual({
    status: 'success',
    conversations: [
      {
        thread_id: first.results[0].thread_id,
        channel: 'chat',
        source: 'helpdesk',
        subject: 'Solved',
        participants: [
          { address: 'ada@example.com', name: 'Ada' },
          { address: null, name: 'Support' },
          { address: null, name: 'Sam' },
        ],
        message_count: 2,
        last_message_at: '2026-01-31T08:00:00.000Z',
        messages: [
          {
            message_id: '2',
            direction: 'outbound',
            from: { address: null, name: 'Sam' },
            to: [{ address: 'ada@example.com', name: null }],
            cc: [],
            sent_at: '2026-01-31T08:00:00.000Z',
            text: 'text of 2',
            html: '<p>Yes</p>',
            attachments: [],
          },
          {
            message_id: '1',
            direction: 'inbound',
            from: { address: 'ada@example.com', name: 'Ada' },
            to: [{ address: null, name: 'Support' }],
            cc: [],
            sent_at: '2026-01-31T08:00:00.000Z',
            text: 'text of 1',
            attachments: [],
          },
        ],
      },
    ],
    total_items: 1,
    returned: 1,
    pagination: { page: 1, limit: 20, total_pages: 1, total_items: 1 },
  })
  const { body } = await tenant.call('GET', `/v1/contacts/events/${ada}?sort_dir=asc`)
  const names = body.events.map(({ event }: { event: string }) => event).sort()
  expect(names).toEqual(['chat_message_received', 'chat_message_sent'])
  expect((await tenant.call('GET', `/v1/contacts/${ada}/email-threads`)).body).toEqual({
    status: 'success',
    email_threads: [],
    total_items: 0,
    pagination: { page: 1, limit: 1_000, total_pages: 0, total_items: 0 },
  })
})

test("a visitor's identification keeps its contact's conversations and gives it both kinds of events", async () => {
  const visit = (event: string) =>
    tenant.track({ visitor_id: 'v', events: [{ event, timestamp: '2026-01-01T00:00:00Z' }] })
  await push(conversation('t', [message('before')]))
  await visit('anonymous')
  const { contact_id } = (await tenant.call('POST', '/v1/identify', { visitor_id: 'v', email: 'ada@example.com' })).body
  await push(conversation('t', [message('after')]))
  await visit('identified')

  const { conversations, total_items } = await read(contact_id)
  expect(total_items).toBe(1)
  expect(conversations[0].messages.map((each: { message_id: string }) => each.message_id).sort()).toEqual([
    'after',
    'before',
  ])
  // A message is an event of the contacts that exist when it is recorded.
  const { events } = (await tenant.call('GET', `/v1/contacts/events/${contact_id}`)).body
  const found = events.map(({ event, data }: { event: string; data: { message_id?: string } }) => [
    event,
    data.message_id,
  ])
  expect(found.sort()).toEqual([
    ['anonymous', undefined],
    ['chat_message_received', 'after'],
    ['identified', undefined],
  ])
})

test("a message from a merged contact's address or id in the tool is its survivor's, and its own once it is unmerged", async () => {
  const ada = await tenant.contact('ada@example.com')
  const records = [{ external_id: '702', email: 'old@example.com' }]
  const { body } = await tenant.call('POST', '/v1/sources/helpdesk/contacts', { kind: 'messaging', records })
  const old = body.results[0].contact_id
  const byAddress = (id: string) => conversation(id, [message(id, { from: { address: 'old@example.com' } })])
  const byId = (id: string) => conversation(id, [message(id, { from: {} })], { contact: { external_id: '702' } })
  const messagesOf = async (contactId: string) => {
    const { conversations } = await read(contactId)
    const { events } = (await tenant.call('GET', `/v1/contacts/events/${contactId}`)).body
    return {
      threads: conversations.map((each: { messages: { message_id: string }[] }) => each.messages[0]?.message_id).sort(),
      events: events.map(({ data }: { data: { message_id: string } }) => data.message_id).sort(),
    }
  }
  await push(byAddress('before'))
  expect((await tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
  await push(byAddress('merged'), byId('merged_by_id'))
  const merged = ['before', 'merged', 'merged_by_id']
  expect(await messagesOf(ada)).toEqual({ threads: merged, events: merged })
  expect((await tenant.call('POST', `/v1/contacts/${old}/unmerge`)).status).toBe(200)
  await push(byAddress('unmerged'), byId('unmerged_by_id'))
  // Conversations go by address and id. An event from between the merge and its end stays with the survivor.
  expect(await messagesOf(ada)).toEqual({ threads: [], events: ['merged', 'merged_by_id'] })
  expect(await messagesOf(old)).toEqual({
    threads: [...merged, 'unmerged', 'unmerged_by_id'],
    events: ['before', 'unmerged', 'unmerged_by_id'],
  })
})

test('a contact without an address is identified by its id in the tool', async () => {
  const records = [{ external_id: '701', properties: { firstname: 'Ada' } }]
  const { body } = await tenant.call('POST', '/v1/sources/helpdesk/contacts', { kind: 'messaging', records })
  const contactId = body.results[0].contact_id
  await push(
    conversation(
      't',
      [message('1', { from: { name: 'Ada' } }), message('2', { direction: 'outbound', from: { name: 'Sam' }, to: [] })],
      { contact: { external_id: '701' } },
    ),
  )
  expect((await read(contactId)).total_items).toBe(1)
  const events = (await tenant.call('GET', `/v1/contacts/events/${contactId}`)).body.events
  expect(events.map(({ event }: { event: string }) => event).sort()).toEqual([
    'chat_message_received',
    'chat_message_sent',
  ])
  // The same id in another tool is a different person.
  await tenant.call('POST', '/v1/sources/other/conversations', {
    records: [conversation('t', [message('1', { from: {} })], { contact: { external_id: '701' } })],
  })
  expect((await read(contactId)).total_items).toBe(1)
  await tenant.call('DELETE', `/v1/contacts/${contactId}`)
  const left = await tenant.handle.db.selectFrom('conversation_threads').select('source').execute()
  expect(left).toEqual([{ source: 'other' }])
})

test('an invalid record does not affect the others, and its error names the field', async () => {
  const bad: [unknown, string][] = [
    [conversation('a', []), 'messages: must be a list of 1 to 100 items'],
    [{ thread_key: 'b', messages: 7 }, 'messages: must be a list'],
    [conversation('c', [message('')]), 'messages[0].message_id: must be a string of 1 to 200 characters'],
    [conversation('d', [message('x', { direction: 'up' })]), 'messages[0].direction: must be one of inbound, outbound'],
    [conversation('e', [message('x', { sent_at: 'yesterday' })]), 'messages[0].sent_at: must be an ISO 8601'],
    [conversation('f', [message('x', { from: 'Ada' })]), 'messages[0].from: must be an object'],
    [conversation('g', [message('x', { text: 7 })]), 'messages[0].text: must be a string'],
    [conversation('h', [message('x', { cc: [] })]), 'messages[0].cc: is not a known field'],
    [conversation('i', [message('x')], { contact: {} }), 'contact: needs an external_id or an email'],
    [conversation('j', [message('x')], { contact: { email: 'nobody' } }), 'contact.email: is not a valid'],
    [conversation('k', [message('x')], { subject: 7 }), 'subject: must be a string of at most 998'],
    [conversation('r', [message('a\u0000')]), 'messages[0].message_id: contains a NUL'],
    [conversation('l', [{ ...message('x'), from: undefined }]), 'messages[0].from: is required'],
    [conversation('', [message('x')]), 'thread_key: must be a string of 1 to 200 characters'],
    [conversation(7 as never, [message('x')]), 'thread_key: must be a string of 1 to 200 characters'],
    [{ messages: [message('x')] }, 'thread_key: is required'],
    [null, 'the record: must be an object'],
    ['conversation', 'the record: must be an object'],
    [conversation('s', [message('x')], { x: 1 }), 'x: is not a known field'],
  ]
  const ada = await tenant.contact('ada@example.com')
  const body = await push(conversation('good', [message('1')]), ...bad.map(([record]) => record))
  const keys = body.results.map(({ thread_key }: { thread_key: string | null }) => thread_key)
  expect(keys.slice(-6)).toEqual(['', null, null, null, null, 's'])
  expect(body.failed).toBe(bad.length)
  expect(body.results[0].status).toBe('created')
  for (const [index, [, expected]] of bad.entries()) {
    const { error, status } = body.results[index + 1]
    expect([status, error.code, error.message.slice(0, expected.length)]).toEqual([
      'failed',
      'validation_error',
      expected,
    ])
  }
  expect((await read(ada)).total_items).toBe(1)
})

test.each(['undefined', 'null', '[object Object]', '{{id}}', '0'])(
  'a conversation or a message under the id %j fails alone: it joins no strangers, and hides no message',
  async (junk) => {
    const of = (email: string) => ({ contact: { email } })
    const { results } = await push(
      conversation(junk, [message('1')], of('a@example.com')),
      conversation('t', [message(junk)], of('b@example.com')),
      conversation('1000', [message('10')], of('c@example.com')),
    )
    expect(results.map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed', 'created'])
    expect(results[0].error.message).toContain('thread_key: ')
    expect(results[1].error.message).toContain('messages[0].message_id: ')
  },
)

describe('an invalid request is 400', () => {
  test.each([
    [PATH, {}, 'records'],
    [PATH, { records: [] }, 'records'],
    [PATH, { records: Array.from({ length: 101 }, () => conversation('t', [message('1')])) }, 'records'],
    ['/v1/sources/email/conversations', { records: [conversation('t', [message('1')])] }, 'source'],
    ['/v1/sources/tracker/conversations', { records: [conversation('t', [message('1')])] }, 'source'],
    ['/v1/sources/No%20Name/conversations', { records: [conversation('t', [message('1')])] }, 'source'],
  ])('%s %.60j', async (path, body, place) => {
    const response = await tenant.call('POST', path, body)
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    expect(response.body.error.details[0].path).toBe(place)
    const stored = await tenant.handle.db.selectFrom('conversation_threads').select('thread_id').execute()
    expect(stored).toEqual([])
  })
})

describe('listing', () => {
  test('has a limit, an order, and a number of messages per thread', async () => {
    const ada = await tenant.contact('ada@example.com')
    const at = (minute: number) => ({ sent_at: `2026-01-31T08:${String(minute).padStart(2, '0')}:00Z` })
    await push(
      ...Array.from({ length: 25 }, (_, n) =>
        conversation(
          `t${n}`,
          Array.from({ length: 7 }, (_, m) => message(`${n}-${m}`, at(n + m))),
        ),
      ),
    )
    const byDefault = await read(ada, '')
    expect([byDefault.returned, byDefault.total_items]).toEqual([20, 25])
    expect(byDefault.conversations[0]).not.toHaveProperty('messages')
    const times = byDefault.conversations.map((each: { last_message_at: string }) => each.last_message_at)
    expect(times).toEqual(times.toSorted().toReversed())
    const second = await read(ada, 'page=2')
    expect([second.returned, second.pagination]).toEqual([5, { page: 2, limit: 20, total_pages: 2, total_items: 25 }])
    const threads = [...byDefault.conversations, ...second.conversations]
    expect(new Set(threads.map((each: { thread_id: string }) => each.thread_id)).size).toBe(25)
    const some = await read(ada, 'include_messages=1&limit=2')
    expect(some.conversations.map((each: { messages: object[] }) => each.messages.length)).toEqual([5, 5])
    const ids = some.conversations[0].messages.map((each: { message_id: string }) => each.message_id)
    expect(ids).toEqual(['24-6', '24-5', '24-4', '24-3', '24-2'])
    const few = await read(ada, 'include_messages=true&limit=100&messages_per_thread=1')
    expect([few.returned, few.conversations[24].messages[0].message_id]).toEqual([25, '0-6'])
  })

  test.each([
    ['limit=0'],
    ['limit=101'],
    ['limit=x'],
    ['messages_per_thread=0'],
    ['messages_per_thread=51'],
    ['include_messages=maybe'],
    ['limit=1&limit=2'],
  ])('%s is 400', async (query) => {
    const ada = await tenant.contact('ada@example.com')
    const { status, body } = await tenant.call('GET', `/v1/contacts/${ada}/conversations?${query}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  })

  test("an unknown contact, a malformed id, and another tenant's contact are 404", async () => {
    const other = await createTestTenant(service)
    const theirs = await other.contact('theirs@example.com')
    for (const id of [newId(), 'nonsense', theirs]) {
      for (const what of ['conversations', 'email-threads']) {
        const { status, body } = await tenant.call('GET', `/v1/contacts/${id}/${what}`)
        expect([status, body.error.code]).toEqual([404, 'not_found'])
      }
    }
  })

  test('a contact without keys has no conversations', async () => {
    const { body } = await tenant.call('POST', '/v1/sources/crm/contacts', { records: [{ external_id: '1' }] })
    const path = `/v1/contacts/${body.results[0].contact_id}/conversations`
    expect((await tenant.call('GET', path)).body).toMatchObject({ conversations: [], total_items: 0, returned: 0 })
  })
})
