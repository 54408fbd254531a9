import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { suppress, suppressionOf } from '../identities/suppressions.ts'
import { newId } from '../platform/ids.ts'
import type { IncomingMessage } from './message.ts'
import { recordMessages } from './record.ts'

let service: TestService
let tenant: TestTenant
let admin: Browser

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
})
afterAll(() => service.close())

const EMAIL = 'grace@example.com'
/** Long, so that it does not occur by chance in random text of another table. */
const EXTERNAL_ID = 'grace-of-the-desk'
const GRACE = { address: EMAIL, name: 'Grace Hopper' }
const BOB = { address: 'bob@example.com', name: 'Bob' }
const US = { address: 'sales@ours.example', name: 'Sales' }

function mail(messageId: string, more: Partial<IncomingMessage>): IncomingMessage {
  return {
    channel: 'email',
    source: 'email',
    messageId,
    threadKey: null,
    inReplyTo: null,
    references: [],
    subject: messageId,
    from: GRACE,
    to: [US],
    cc: [],
    sentAt: new Date('2026-01-01T00:00:00Z'),
    direction: 'inbound',
    text: 'Secret words',
    html: '<p>Secret words</p>',
    attachments: [{ filename: 'secret words.pdf', contentType: 'application/pdf', bytes: 1 }],
    identityId: null,
    ...more,
  }
}

/** The tables that contain a text. */
async function tablesContaining(text: string): Promise<string[]> {
  const { rows: tables } = await service.postgres.pool.query<{ name: string }>(`SELECT table_name AS name
    FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
  const places: string[] = []
  for (const { name } of tables) {
    const query = `SELECT FROM ${name} AS t WHERE strpos(lower(t::text), lower($1)) > 0 LIMIT 1`
    if ((await service.postgres.pool.query(query, [text])).rows.length > 0) places.push(name)
  }
  // The erasure stores what it searches for until its last pass.
  return places.filter((name) => name !== 'erasures')
}

test('conversations with others, sent mails and social messages contain nothing of an erased contact', async () => {
  const { db } = tenant.handle
  const now = new Date()
  const grace = await tenant.contact(EMAIL)
  const bob = await tenant.contact(BOB.address)
  await tenant.call('POST', '/v1/sources/desk/contacts', { records: [{ external_id: EXTERNAL_ID, email: EMAIL }] })
  const record = (...messages: IncomingMessage[]) => recordMessages(tenant.handle, service.writing, messages)
  const first = mail('first@x', { to: [US, BOB] })
  const reply = mail('reply@x', {
    from: BOB,
    to: [GRACE],
    cc: [US],
    references: ['first@x'],
    subject: `Re: ${EMAIL}`,
    text: `On Monday ${EMAIL.toUpperCase()} wrote. Best, Bob`,
    html: `<a href="mailto:${EMAIL}">her</a>`,
    attachments: [],
  })
  const chat = { channel: 'chat', source: 'desk', threadKey: 't', messageId: 'chat', to: [BOB] } as const
  await record(first, reply, mail('alone@x', {}), mail('elsewhere@x', { ...reply, messageId: 'elsewhere@x', to: [US] }))
  await record(mail('', { ...chat, from: { address: null, name: 'Grace Hopper', externalId: EXTERNAL_ID } }))
  const key = 'key@ours.example'
  const sent = { identity_id: null, status: 'sent', claimed_at: now, claimed_until: now, response: `250 for ${EMAIL}` }
  await db
    .insertInto('mail_sends')
    .values([
      { ...sent, message_id: 'now@x', contact_id: grace, recipient: EMAIL },
      { ...sent, message_id: key, contact_id: grace, recipient: 'grace.before@example.com' },
      { ...sent, message_id: 'other@x', contact_id: bob, recipient: BOB.address, response: 'ok' },
    ])
    .execute()
  const letter = { external_id: newId(), idempotency_key: key, profile_id: 'p', kind: 'message' }
  const url = 'https://social.example/in/grace-hopper'
  await db
    .insertInto('social_sandbox_outbox')
    .values({ ...letter, recipient_profile_url: url, text: 'Dear Grace', created_at: now })
    .execute()
  await insertAction(grace, key)
  await suppress(tenant.handle, { address: EMAIL, reason: 'unsubscribed', details: `by ${EMAIL}` }, now)

  const { body } = await admin.call('POST', '/v1/erasures', { contact_id: grace })
  const receipt = await until(async () => {
    const { body: read } = await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)
    expect(read.receipt.status).toBe('erased')
    return read.receipt
  })
  expect(receipt.removed).toMatchObject({ messages: 2, mails: 2, social_messages: 1, suppressions: 1 })
  for (const text of [EMAIL, 'Grace Hopper', 'Secret words', 'grace.before', 'grace-hopper', EXTERNAL_ID]) {
    expect([text, await tablesContaining(text)]).toEqual([text, []])
  }
  const { conversations } = (await tenant.call('GET', `/v1/contacts/${bob}/conversations?include_messages=true`)).body
  const messages = conversations.flatMap((each: { messages: { text: string }[] }) => each.messages)
  expect(messages.map(({ text }: { text: string }) => text).sort()).toEqual([
    'On Monday [erased] wrote. Best, Bob',
    'On Monday [erased] wrote. Best, Bob',
    '[erased]',
    '[erased]',
  ])
  // Reading a mailbox again restores nothing.
  expect((await record(first))[0]?.status).toBe('known')
  expect(await tablesContaining('Secret words')).toEqual([])
  // After a new import, she is still unsubscribed.
  expect(await suppressionOf(tenant.handle, 'Grace@example.com')).toMatchObject({ address: EMAIL, details: null })
  const other = await createTestTenant(service)
  expect(await suppressionOf(other.handle, EMAIL)).toBeNull()
})

test("a conversation with one of the tenant's own people, also a contact, is deleted with the contact", async () => {
  const now = new Date()
  const identity = { identity_id: newId(), created_at: now, updated_at: now }
  const person = { first_name: 'Sam', last_name: 'Sales', role: 'sales' }
  const account = { address: US.address, settings: '{}', sealed: 'x', daily_limit: 1, spacing_seconds: 1 }
  await tenant.handle.db
    .insertInto('identities')
    .values({ ...identity, ...person })
    .execute()
  await tenant.handle.db
    .insertInto('email_accounts')
    .values({ ...identity, ...account })
    .execute()
  await tenant.contact(US.address)
  const eve = await tenant.contact('eve@example.com')
  const from = { address: 'eve@example.com', name: 'Eve' }
  await recordMessages(tenant.handle, service.writing, [mail('eve@x', { from, text: 'Only for Sam' })])
  expect((await tenant.call('DELETE', `/v1/contacts/${eve}`)).status).toBe(200)
  expect(await tablesContaining('Only for Sam')).toEqual([])
})

/** An executed action of an agent with an idempotency key. */
async function insertAction(contactId: string, key: string): Promise<void> {
  const { db } = tenant.handle
  const [agent_id, run_id, now] = [newId(), newId(), new Date()]
  await db.insertInto('agents').values({ agent_id, name: 'A', created_at: now, updated_at: now }).execute()
  const run = {
    run_id,
    agent_id,
    status: 'completed',
    trigger: 'manual',
    configuration: '{}',
    requested_by: '{}',
    created_at: now,
  }
  await db.insertInto('agent_runs').values(run).execute()
  await db.insertInto('agent_run_contacts').values({ run_id, contact_id: contactId, position: 0 }).execute()
  const action = { run_id, contact_id: contactId, action_index: 0, agent_id, type: 'email_message', params: '{}' }
  await db
    .insertInto('agent_actions')
    .values({ ...action, execution: JSON.stringify({ key }), status: 'executed', created_at: now, updated_at: now })
    .execute()
}
