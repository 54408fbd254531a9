import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { recordMessages } from '../../conversations/record.ts'
import { refuseWhileErasing } from '../../erasure/erasures.ts'
import { anyVersion } from '../../operations/etag.ts'
import { newId } from '../../platform/ids.ts'
import { mergeContacts } from './merge.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const merge = (contactId: string, into: string) => tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into })
const unmerge = (contactId: string) => tenant.call('POST', `/v1/contacts/${contactId}/unmerge`)
const contacts = (...names: string[]) =>
  Promise.all(names.map((name) => tenant.contact(`${name}@example.com`, { [name]: name })))
const statusOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include_events=false`)).status
const responseOf = async (request: ReturnType<typeof merge>) => {
  const { status, body } = await request
  return [status, body.error?.code, body.error?.details?.[0]?.message]
}
const eventsOf = async (id: string) => {
  const { body } = await tenant.call('GET', `/v1/contacts/events/${id}`)
  return body.events?.map(({ event }: { event: string }) => event).sort()
}
/** The properties, and the visitor's event, of each of the contacts `a`, `b` and `c`. */
async function threeWithEvents() {
  const ids = await contacts('a', 'b', 'c')
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    await tenant.track({ visitor_id: name, events: [{ event: `of_${name}` }] })
    await tenant.call('PUT', `/v1/contacts/${ids[index]}`, { visitor_id: name })
  }
  return ids as [string, string, string]
}
async function stateOf(ids: readonly string[]) {
  return Promise.all(
    ids.map(async (id) => {
      const { status, body } = await tenant.call('GET', `/v1/contacts/${id}?include=provenance,raw`)
      if (status !== 200) return { status }
      for (const part of [body, body.contact, body.unified_profile]) {
        delete part.timestamp
        delete part.updated_at
      }
      return { ...body, on: await eventsOf(id) }
    }),
  )
}

describe('a merge is rejected', () => {
  test('into itself, with an unknown field or without an id', async () => {
    const [a] = await contacts('a')
    expect(await responseOf(merge(a ?? '', a ?? ''))).toEqual([400, 'validation_error', 'must be a different contact'])
    for (const body of [{}, { into: 7 }, { into: newId(), x: 1 }]) {
      expect((await tenant.call('POST', `/v1/contacts/${a}/merge`, body)).status, JSON.stringify(body)).toBe(400)
    }
  })

  test("if either contact is unknown or another tenant's", async () => {
    const [a] = await contacts('a')
    const other = await createTestTenant(service)
    const theirs = await other.contact('a@example.com')
    for (const unknown of [newId(), theirs, 'x']) {
      expect((await responseOf(merge(a ?? '', unknown))).slice(0, 2), unknown).toEqual([404, 'not_found'])
      expect((await responseOf(merge(unknown, a ?? ''))).slice(0, 2), unknown).toEqual([404, 'not_found'])
      expect((await responseOf(unmerge(unknown))).slice(0, 2), unknown).toEqual([404, 'not_found'])
    }
    expect((await other.call('GET', `/v1/contacts/${theirs}`)).status).toBe(200)
  })

  test('if either contact is already merged; unmerging a contact that is not merged is rejected as well', async () => {
    const [a, b, c] = await threeWithEvents()
    await merge(a, b)
    expect(await responseOf(merge(a, c))).toEqual([409, 'already_merged', b])
    expect(await responseOf(merge(c, a))).toEqual([409, 'already_merged', b])
    expect((await responseOf(unmerge(c))).slice(0, 2)).toEqual([409, 'contact_not_merged'])
    await unmerge(a)
    expect((await responseOf(unmerge(a))).slice(0, 2)).toEqual([409, 'contact_not_merged'])
  })

  test('if the result would be too large or have too many properties; nothing is written', async () => {
    const long = 'x'.repeat(40_000)
    const large = (name: string) => Object.fromEntries([1, 2].map((n) => [`${name}${n}`, long]))
    const many = (name: string) => Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${name}${n}`, n]))
    for (const [properties, expected] of [
      [large, [413, 'contact_too_large']],
      [many, [400, 'validation_error']],
    ] as const) {
      const a = await tenant.contact(`${newId()}@example.com`, properties('a'))
      const b = await tenant.contact(`${newId()}@example.com`, properties('b'))
      const before = await stateOf([a, b])
      expect((await responseOf(merge(a, b))).slice(0, 2)).toEqual(expected)
      expect(await stateOf([a, b])).toEqual(before)
    }
  })
})

test('a contact can have at most 250 merged contacts', async () => {
  const [a = '', b = '', c = ''] = await contacts('a', 'b', 'c')
  await sql`INSERT INTO contact_merges (tenant_id, contact_id, into_contact_id, survivor_id, merged_at, merged_by, merged,
      survivor_before, survivor_after, moved)
    SELECT ${tenant.id}::uuid, gen_random_uuid(), ${a}::uuid, ${a}::uuid, now(), '{}', '{}', '{}', '{}', '{}'
    FROM generate_series(1, 249)`.execute(service.stores.database)
  expect((await merge(b, a)).status).toBe(200)
  expect((await responseOf(merge(c, a))).slice(0, 2)).toEqual([409, 'too_many_merges'])
  expect((await responseOf(merge(a, c))).slice(0, 2)).toEqual([409, 'too_many_merges'])
})

describe('several merges', () => {
  test('in a chain lead to the last survivor, and are undone in reverse order', async () => {
    const ids = await threeWithEvents()
    const [a, b, c] = ids
    const [alone, together] = [await stateOf(ids), ['of_a', 'of_b', 'of_c']]
    await merge(a, b)
    const first = await stateOf(ids)
    await merge(b, c)
    expect(await eventsOf(c)).toEqual(together)
    expect((await tenant.call('POST', '/v1/identify', { email: 'a@example.com' })).body.contact_id).toBe(c)
    expect((await tenant.call('GET', `/v1/contacts/${a}`)).body.error.details[0].message).toBe(c)
    expect(await responseOf(unmerge(a))).toEqual([409, 'unmerge_later_first', b])
    expect((await unmerge(b)).status).toBe(200)
    expect(await stateOf(ids)).toEqual(first)
    expect((await tenant.call('POST', '/v1/identify', { email: 'a@example.com' })).body.contact_id).toBe(b)
    expect((await unmerge(a)).status).toBe(200)
    expect(await stateOf(ids)).toEqual(alone)
  })

  test('into one contact are undone in reverse order', async () => {
    const ids = await threeWithEvents()
    const [a, b, c] = ids
    const alone = await stateOf(ids)
    await merge(a, c)
    await merge(b, c)
    expect(await responseOf(unmerge(a))).toEqual([409, 'unmerge_later_first', b])
    await unmerge(b)
    await unmerge(a)
    expect(await stateOf(ids)).toEqual(alone)
  })

  test('of two contacts in both directions concurrently: one succeeds, the other is rejected', async () => {
    for (let round = 0; round < 5; round++) {
      const [a = '', b = ''] = [
        await tenant.contact(`a${round}@example.com`),
        await tenant.contact(`b${round}@example.com`),
      ]
      const responses = await Promise.all([merge(a, b), merge(b, a), merge(a, b), merge(b, a)])
      const statuses = responses.map(({ status, body }) => body.error?.code ?? status).sort()
      expect(statuses).toEqual([200, 'already_merged', 'already_merged', 'already_merged'])
      const merged = (await statusOf(a)) === 404 ? a : b
      const undone = await Promise.all([unmerge(merged), unmerge(merged)])
      expect(undone.map(({ status, body }) => body.error?.code ?? status).sort()).toEqual([200, 'contact_not_merged'])
      expect([await statusOf(a), await statusOf(b)]).toEqual([200, 200])
    }
  })

  test("concurrent with writes by the merged contact's keys never create a third contact", async () => {
    const [a = '', b = ''] = await contacts('a', 'b')
    const names = Array.from({ length: 30 }, (_, n) => n)
    const [responses] = await Promise.all([
      Promise.all(
        names.map((n) =>
          n % 3 === 0
            ? tenant.call('POST', '/v1/identify', { email: 'a@example.com', visitor_id: `v${n}` })
            : n % 3 === 1
              ? tenant.call('POST', '/v1/sources/crm/contacts', {
                  records: [{ external_id: 'x', email: 'a@example.com', properties: { n } }],
                })
              : tenant.call('POST', '/v1/contacts', { email: 'a@example.com' }),
        ),
      ),
      (async () => {
        for (let round = 0; round < 4; round++) {
          expect((await merge(a, b)).status).toBe(200)
          expect((await unmerge(a)).status).toBe(200)
        }
      })(),
    ])
    for (const { status, body } of responses) {
      const id = body.contact_id ?? body.results?.[0].contact_id ?? body.error.details[0].message
      expect([a, b], JSON.stringify({ status, body })).toContain(id)
    }
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(2)
  })
})

test('deleting the survivor deletes the merged contact, which can no longer be unmerged, and frees its email', async () => {
  const [a, b] = await threeWithEvents()
  await merge(a, b)
  expect((await tenant.call('DELETE', `/v1/contacts/${b}`)).status).toBe(200)
  expect((await responseOf(unmerge(a))).slice(0, 2)).toEqual([404, 'not_found'])
  expect(await eventsOf(b)).toEqual(['of_a', 'of_b'])
  expect((await tenant.call('GET', `/v1/contacts/${a}`)).body.error.code).toBe('not_found')
  const { body } = await tenant.call('POST', '/v1/identify', { email: 'a@example.com', visitor_id: 'a' })
  expect(body.created).toBe(true)
  for (const table of ['contact_merges', 'contact_aliases'] as const) {
    expect(await tenant.handle.db.selectFrom(table).select('contact_id').execute()).toEqual([])
  }
})

test('an unmerge is rejected while another contact has the external id, and works once it is free', async () => {
  const [a = '', b = '', c = ''] = await contacts('a', 'b', 'c')
  // The merged contact's external id leads to the survivor, so no endpoint can set it on another contact.
  const giveId = (id: string, external_id: string | null) =>
    tenant.handle.db.updateTable('contacts').set({ external_id }).where('contact_id', '=', id).execute()
  await giveId(a, 'crm-1')
  await merge(a, b)
  await giveId(b, null)
  await giveId(c, 'crm-1')
  expect((await responseOf(unmerge(a))).slice(0, 2)).toEqual([409, 'contact_keys_taken'])
  await giveId(c, null)
  expect((await unmerge(a)).status).toBe(200)
})

test("a conversation remains while a merged contact's address takes part, and is deleted with the last participant", async () => {
  const [a = '', b = '', c = ''] = await contacts('a', 'b', 'c')
  const message = {
    message_id: 'm',
    direction: 'inbound',
    from: { address: 'a@example.com', name: 'A' },
    to: [{ address: 'c@example.com', name: 'C' }],
    sent_at: '2026-01-31T08:00:00Z',
    text: 'Hello',
  }
  await tenant.call('POST', '/v1/sources/helpdesk/conversations', {
    records: [{ thread_key: 't', messages: [message] }],
  })
  await merge(a, b)
  const threads = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}/conversations`)).body.total_items
  expect([await threads(b), await threads(c)]).toEqual([1, 1])
  await tenant.call('DELETE', `/v1/contacts/${c}`)
  expect(await threads(b)).toBe(1)
  await tenant.call('DELETE', `/v1/contacts/${b}`)
  expect(await tenant.handle.db.selectFrom('conversation_threads').select('thread_id').execute()).toEqual([])
})

/** Starts `write` during a merge. @returns its result, once it has waited for the merge to be committed. */
async function whileMerging<T>(contactId: string, into: string, write: () => Promise<T>): Promise<T> {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const { writing } = service
  const segments = {
    ...writing.segments,
    leave: async (tx: typeof tenant.handle, contactIds: readonly string[]) => {
      reached.resolve()
      await released.promise
      return writing.segments.leave(tx, contactIds)
    },
  }
  const merging = mergeContacts(
    tenant.handle,
    { ...writing, segments, refuseWhileErasing },
    { contactId, into },
    { kind: 'service' },
    anyVersion,
  )
  await reached.promise
  const written = write()
  const waiting = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%contacts%'`
  await expect.poll(async () => (await waiting.execute(service.stores.database)).rows[0]?.n).toBeGreaterThan(0)
  released.resolve()
  await merging
  return written
}

test("a source that sends a merged contact's id updates the survivor", async () => {
  const push = (...records: object[]) => tenant.call('POST', '/v1/sources/crm/contacts', { records })
  const [a, b] = (await contacts('a', 'b')) as [string, string]
  await push({ external_id: 'a', email: 'a@example.com' }, { external_id: 'b', email: 'b@example.com' })
  const { body } = await whileMerging(a, b, () => push({ external_id: 'a', properties: { city: 'London' } }))
  expect(body.results).toMatchObject([{ status: 'updated', contact_id: b }])
})

test('a mail from the address of a contact that is being merged reaches the survivor', async () => {
  const [a, b] = (await contacts('a', 'b')) as [string, string]
  const mail = {
    channel: 'email',
    source: 'email',
    messageId: 'm@example.com',
    threadKey: null,
    inReplyTo: null,
    references: [],
    subject: 'Hello',
    from: { address: 'a@example.com', name: null },
    to: [{ address: 'sales@ours.example', name: null }],
    cc: [],
    sentAt: new Date(),
    direction: 'inbound',
    text: 'Hello',
    html: null,
    attachments: [],
    identityId: null,
  } as const
  const results = await whileMerging(a, b, () => recordMessages(tenant.handle, service.writing, [mail]))
  expect(results).toMatchObject([{ status: 'recorded' }])
  expect(await eventsOf(b)).toEqual(['email_received'])
  expect((await tenant.call('GET', `/v1/contacts/${b}/conversations`)).body.total_items).toBe(1)
})
