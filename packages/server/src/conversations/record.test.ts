import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { createSegment } from '../segments/segments.ts'
import type { IncomingMessage } from './message.ts'
import { lastInboundFrom } from './read.ts'
import { recordMessages } from './record.ts'

let service: TestService
let tenant: TestTenant
let ada: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  ada = await tenant.contact('ada@example.com')
})

const US = { address: 'sales@ours.example', name: 'Sales' }
const ADA = { address: 'Ada@Example.com', name: 'Ada' }

let count = 0

/** A mail from Ada to us, with overrides. */
function mail(more: Partial<IncomingMessage> = {}): IncomingMessage {
  const n = ++count
  return {
    channel: 'email',
    source: 'email',
    messageId: `m${n}@example.com`,
    threadKey: null,
    inReplyTo: null,
    references: [],
    subject: `Subject ${n}`,
    from: ADA,
    to: [US],
    cc: [],
    sentAt: new Date(Date.UTC(2026, 0, 1, 0, n)),
    direction: 'inbound',
    text: `text ${n}`,
    html: null,
    attachments: [],
    identityId: null,
    ...more,
  }
}

const record = (...messages: IncomingMessage[]) => recordMessages(tenant.handle, service.writing, messages)

/** Adds an address to the tenant's own. */
async function ownMailbox(address: string): Promise<void> {
  const now = new Date()
  const identity = { identity_id: newId(), created_at: now, updated_at: now }
  const person = { first_name: 'Sam', last_name: 'Sales', role: 'sales' }
  const account = { address, settings: '{}', sealed: 'x', daily_limit: 1, spacing_seconds: 1 }
  await tenant.handle.db
    .insertInto('identities')
    .values({ ...identity, ...person })
    .execute()
  await tenant.handle.db
    .insertInto('email_accounts')
    .values({ ...identity, ...account })
    .execute()
}

async function conversations(contactId = ada, query = 'include_messages=true&messages_per_thread=50&limit=100') {
  const { status, body } = await tenant.call('GET', `/v1/contacts/${contactId}/conversations?${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

async function events(contactId = ada) {
  const path = `/v1/contacts/events/${contactId}?sort_dir=asc`
  return (await tenant.call('GET', path)).body.events as { event: string; timestamp: string; data: object }[]
}

describe('threads', () => {
  test('a reply joins the thread of the mail that it refers to, in either order', async () => {
    const first = mail()
    const reply = mail({
      references: [first.messageId],
      subject: 'Something else',
      from: US,
      to: [ADA],
      direction: 'outbound',
    })
    const second = mail({ inReplyTo: reply.messageId, subject: null })
    const [a, b, c] = await record(second, reply, first)
    expect([a?.status, b?.status, c?.status]).toEqual(['recorded', 'recorded', 'recorded'])
    const { conversations: threads, total_items } = await conversations()
    expect(total_items).toBe(1)
    expect(threads[0]).toMatchObject({
      channel: 'email',
      source: 'email',
      message_count: 3,
      last_message_at: second.sentAt.toISOString(),
      participants: [
        { address: 'ada@example.com', name: 'Ada' },
        { address: 'sales@ours.example', name: 'Sales' },
      ],
    })
    expect(threads[0].messages.map((message: { message_id: string }) => message.message_id)).toEqual([
      second.messageId,
      reply.messageId,
      first.messageId,
    ])
    const { body } = await tenant.call('GET', `/v1/contacts/${ada}/email-threads`)
    expect(body.email_threads).toEqual([
      { thread_id: threads[0].thread_id, last_message_id: second.messageId, subject: 'Something else' },
    ])
  })

  test('two threads are merged when the mail that links them arrives', async () => {
    const first = mail({ subject: 'One' })
    const between = mail({ inReplyTo: first.messageId, subject: 'Two' })
    const last = mail({ inReplyTo: between.messageId, subject: 'Three' })
    await record(first)
    await record(last)
    await record(mail({ subject: 'Apart' }))
    expect((await conversations()).total_items).toBe(3)
    await record(between)
    const { conversations: threads, total_items } = await conversations()
    expect(total_items).toBe(2)
    expect(threads[1]).toMatchObject({ subject: 'One', message_count: 3, last_message_at: last.sentAt.toISOString() })
    expect(threads[1].messages).toHaveLength(3)
  })

  test('mails without references are threaded by subject and participant, within thirty days', async () => {
    await ownMailbox('sales@ours.example')
    const day = (n: number) => new Date(Date.UTC(2026, 0, n))
    const [first] = await record(mail({ subject: 'An  Offer', sentAt: day(1) }))
    const [reply] = await record(mail({ subject: 'RE: Fwd: AW: an offer', sentAt: day(20), references: ['unknown@x'] }))
    expect(reply?.threadId).toBe(first?.threadId)
    const [late] = await record(mail({ subject: 'Re: An offer', sentAt: day(60) }))
    expect(late?.threadId).not.toBe(first?.threadId)
    await tenant.contact('bob@example.com')
    const bob = { address: 'bob@example.com', name: null }
    const [other] = await record(mail({ subject: 'An Offer', sentAt: day(2), from: bob }))
    // That both are to us does not count: it is true of all mail we receive.
    expect(other?.threadId).not.toBe(first?.threadId)
  })

  test('mails of different contacts with the same subject to one forwarding address are separate threads', async () => {
    await ownMailbox('sales@ours.example')
    const bob = await tenant.contact('bob@example.com')
    const BOB = { address: 'bob@example.com', name: null }
    const team = { address: 'team@ours.example', name: null }
    const sentAt = new Date(Date.UTC(2026, 0, 2))
    await record(
      mail({ subject: 'Question', to: [team], sentAt }),
      mail({ subject: 'Question', to: [team], sentAt, from: BOB }),
      mail({ subject: 'Offer', from: US, to: [ADA], cc: [team], direction: 'outbound', sentAt }),
      mail({ subject: 'Offer', from: US, to: [BOB], cc: [team], direction: 'outbound', sentAt }),
    )
    for (const contact of [ada, bob]) {
      const { conversations: threads } = await conversations(contact)
      expect(threads.map((thread: { message_count: number }) => thread.message_count)).toEqual([1, 1])
    }
  })

  test('an empty subject, or one of reply prefixes only, does not group mails', async () => {
    await record(mail({ subject: null }), mail({ subject: 'Re:' }), mail({ subject: ' ' }), mail({ subject: 'Re: ' }))
    expect((await conversations()).total_items).toBe(4)
  })
})

describe('deduplication', () => {
  test('a mail that is recorded concurrently is stored once, with one event', async () => {
    const messages = Array.from({ length: 20 }, () => mail())
    const results = await Promise.all(Array.from({ length: 6 }, () => record(...messages)))
    for (let n = 0; n < messages.length; n++) {
      expect(results.map((each) => each[n]?.status).sort()).toEqual([...Array(5).fill('known'), 'recorded'])
      expect(new Set(results.map((each) => each[n]?.threadId)).size).toBe(1)
    }
    expect((await conversations()).total_items).toBe(20)
    expect((await events()).map(({ event }) => event)).toEqual(Array(20).fill('email_received'))
  })

  test('replies that are recorded concurrently join one thread', async () => {
    const first = mail()
    const replies = Array.from({ length: 8 }, () => mail({ references: [first.messageId], subject: null }))
    await Promise.all([...replies, first].map((message) => record(message)))
    const { conversations: threads, total_items } = await conversations()
    expect([total_items, threads[0].message_count, threads[0].messages.length]).toEqual([1, 9, 9])
  })

  test('a message id is unique per source and tenant', async () => {
    const message = mail({ source: 'helpdesk', channel: 'chat', threadKey: 't', messageId: 'same' })
    const [a, b] = await record(message, { ...message, source: 'intercom' })
    expect([a?.status, b?.status]).toEqual(['recorded', 'recorded'])
    const other = await createTestTenant(service)
    const [c] = await recordMessages(other.handle, service.writing, [message])
    expect(c?.status).toBe('recorded')
    expect((await conversations()).total_items).toBe(2)
  })
})

describe('events', () => {
  test('a received mail is an event of its sender, a sent one of all its recipients who are contacts', async () => {
    const bob = await tenant.contact('bob@example.com')
    const BOB = { address: 'bob@example.com', name: null }
    const received = mail({ cc: [BOB], subject: 'Hello' })
    const sent = mail({ from: US, to: [ADA], cc: [BOB], direction: 'outbound' })
    const [first, second] = await record(received, sent)
    expect(await events()).toMatchObject([
      {
        event: 'email_received',
        timestamp: received.sentAt.toISOString(),
        data: {
          source: 'email',
          subject: 'Hello',
          thread_id: first?.threadId,
          message_id: received.messageId,
          direction: 'inbound',
          from: 'ada@example.com',
          to: ['sales@ours.example', 'bob@example.com'],
        },
      },
      { event: 'email_sent', data: { thread_id: second?.threadId, direction: 'outbound' } },
    ])
    expect((await events(bob)).map(({ event }) => event)).toEqual(['email_sent'])
    expect((await conversations(bob)).total_items).toBe(2)
    const { body } = await tenant.call('GET', `/v1/contacts/${ada}`)
    expect(body.contact.first_seen_at).toBe(received.sentAt.toISOString())
  })

  test('a mail that is found in an inbox and then in a Sent folder is outbound', async () => {
    const message = mail({ from: US, to: [ADA] })
    await record(message)
    expect(await events()).toEqual([])
    const sent = { ...message, direction: 'outbound' } as const
    const statuses = await Promise.all([record(sent), record(sent), record(message)])
    expect(statuses.flat().map(({ status }) => status)).toEqual(['known', 'known', 'known'])
    expect((await events()).map(({ event }) => event)).toEqual(['email_sent'])
    expect((await conversations()).conversations[0].messages[0].direction).toBe('outbound')
  })

  test("the sender's copy replaces an earlier one with the same id", async () => {
    const forged = mail({ text: 'We give it away for nothing.', html: '<p>Nothing!</p>', cc: [ADA] })
    await record(forged)
    await record({ ...forged, from: US, to: [ADA], cc: [], direction: 'outbound', text: 'It costs ten.', html: null })
    const { messages } = (await conversations()).conversations[0]
    expect(messages).toMatchObject([
      { direction: 'outbound', from: US, to: [{ address: 'ada@example.com' }], cc: [], text: 'It costs ten.' },
    ])
    expect(messages[0]).not.toHaveProperty('html')
  })

  test('an implausible time becomes the current time', async () => {
    const before = Date.now()
    await record(
      mail({ sentAt: new Date('2999-01-01') }),
      mail({ sentAt: new Date(0) }),
      mail({ sentAt: new Date(Number.NaN) }),
    )
    const times = (await events()).map(({ timestamp }) => Date.parse(timestamp))
    expect(times).toHaveLength(3)
    expect(Math.min(...times)).toBeGreaterThanOrEqual(before)
    expect(Math.max(...times)).toBeLessThanOrEqual(Date.now())
  })

  test('a contact that has written enters a segment with that condition', async () => {
    const filter = { match: 'all', conditions: [{ event: { type: 'email_received' }, operator: 'did' }] }
    const { segmentId } = await createSegment(tenant.handle, { name: 'Wrote', description: null, filter }, new Date())
    await record(mail())
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.contact_count)
      .toBe(1)
  })
})

test("a mail that is older than its contact updates segments on the contact's first_seen_at", async () => {
  const filter = { match: 'all', conditions: [{ property: 'first_seen_at', operator: 'before', value: '2026-01-31' }] }
  const { segmentId } = await createSegment(tenant.handle, { name: 'Old', description: null, filter }, new Date())
  await record(mail())
  expect((await tenant.call('GET', `/v1/contacts/${ada}`)).body.contact.segment_ids).toEqual([segmentId])
})

describe('contacts', () => {
  test('mail that involves no contact is ignored, unless it belongs to a stored thread', async () => {
    const stranger = { address: 'stranger@example.com', name: null }
    const first = mail()
    const results = await record(
      mail({ from: stranger }),
      first,
      mail({ from: stranger, references: [first.messageId] }),
      mail({ from: stranger, subject: first.subject }),
    )
    expect(results.map(({ status }) => status)).toEqual(['ignored', 'recorded', 'recorded', 'ignored'])
  })

  test("the tenant's own address does not count, even if it is a contact's", async () => {
    await tenant.contact('sales@ours.example')
    await ownMailbox('sales@ours.example')
    const [result] = await record(mail({ from: { address: 'stranger@example.com', name: null } }))
    expect(result?.status).toBe('ignored')
  })

  test('a contact that is created later, or changes its address, has the conversations of that address', async () => {
    const carol = { address: 'carol@example.com', name: null }
    await record(mail({ cc: [carol] }))
    const later = await tenant.contact('carol@example.com')
    expect((await conversations(later)).total_items).toBe(1)
    await tenant.call('PUT', `/v1/contacts/${later}`, { properties: { email: 'other@example.com' } })
    expect((await conversations(later)).total_items).toBe(0)
    const dave = await tenant.contact('dave@example.com')
    await tenant.call('PUT', `/v1/contacts/${dave}`, { properties: { email: 'carol@example.com' } })
    expect((await conversations(dave)).total_items).toBe(1)
  })

  test('conversations of one contact are deleted with it', async () => {
    const bob = await tenant.contact('bob@example.com')
    const BOB = { address: 'bob@example.com', name: null }
    await record(mail(), mail({ to: [US, BOB] }), mail({ to: [US, { address: 'stranger@example.com', name: null }] }))
    expect((await tenant.call('DELETE', `/v1/contacts/${ada}`)).status).toBe(200)
    expect((await conversations(bob)).total_items).toBe(1)
    const left = await tenant.handle.db.selectFrom('conversation_messages').select('message_id').execute()
    expect(left).toHaveLength(1)
  })

  test('a contact that is deleted while its mail is recorded leaves no conversation', async () => {
    const messages = Array.from({ length: 10 }, () => mail())
    await Promise.all([...messages.map((message) => record(message)), tenant.call('DELETE', `/v1/contacts/${ada}`)])
    expect(await tenant.handle.db.selectFrom('conversation_messages').select('message_id').execute()).toEqual([])
  })

  test('the latest message written by a contact excludes automatic replies', async () => {
    const since = new Date(Date.UTC(2025, 0, 1))
    expect(await lastInboundFrom(tenant.handle, ada, since)).toBeNull()
    const wrote = mail()
    const [recorded] = await record(
      wrote,
      mail({ isAutomatic: true }),
      mail({ from: US, to: [ADA], direction: 'outbound' }),
      mail({ from: { address: 'stranger@example.com', name: null }, cc: [ADA] }),
    )
    expect(await lastInboundFrom(tenant.handle, ada, since)).toEqual({
      threadId: recorded?.threadId,
      messageId: wrote.messageId,
      sentAt: wrote.sentAt,
    })
    expect(await lastInboundFrom(tenant.handle, ada, new Date(wrote.sentAt.getTime() + 1))).toBeNull()
  })
})
