import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let path: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  path = `/v1/contacts/${await tenant.contact('noted@example.com')}/notes`
})

test('notes are created, listed newest first, changed and deleted, with their content as sent', async () => {
  const content = '# Ünïcode 🎉\r\n<script>alert(1)</script>\t  trailing  '
  const created = await tenant.call('POST', path, { content })
  expect(created.status).toBe(201)
  const { note } = created.body
  expect(note).toMatchObject({ content, _id: note.note_id, contact_id: path.split('/')[3] })
  await tenant.call('POST', path, { content: 'second' })
  const list = await tenant.call('GET', path)
  expect(list.body.total_items).toBe(2)
  expect(list.body.notes.map((n: { content: string }) => n.content)).toEqual(['second', content])
  const changed = await tenant.call('PATCH', `${path}/${note.note_id}`, { content: 'changed' })
  expect(changed.body.note).toMatchObject({ content: 'changed', created_at: note.created_at })
  const deleted = await tenant.call('DELETE', `${path}/${note.note_id}`)
  expect(deleted.body).toEqual({ status: 'success', deleted: true, note_id: note.note_id })
  expect((await tenant.call('DELETE', `${path}/${note.note_id}`)).status).toBe(404)
  expect((await tenant.call('PATCH', `${path}/${note.note_id}`, { content: 'x' })).status).toBe(404)
})

test.each([
  [{}],
  [{ content: '' }],
  [{ content: 7 }],
  [{ content: 'x'.repeat(100_001) }],
  [{ content: 'x', more: 1 }],
  [[]],
  ['text'],
  [null],
])('the body %j is 400', async (body) => {
  const response = await tenant.call('POST', path, body)
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
})

test('100,000 characters are stored as sent', async () => {
  const content = 'ß'.repeat(100_000)
  const { status, body } = await tenant.call('POST', path, { content })
  expect(status).toBe(201)
  expect(body.note.content).toBe(content)
})

test('validation errors come before 404, and a note of another contact is 404', async () => {
  expect((await tenant.call('POST', `/v1/contacts/${newId()}/notes`, { content: 7 })).status).toBe(400)
  expect((await tenant.call('POST', `/v1/contacts/${newId()}/notes`, { content: 'x' })).status).toBe(404)
  expect((await tenant.call('GET', `/v1/contacts/${newId()}/notes`)).status).toBe(404)
  const { body } = await tenant.call('POST', path, { content: 'mine' })
  const other = await tenant.contact('other@example.com')
  expect((await tenant.call('DELETE', `/v1/contacts/${other}/notes/${body.note.note_id}`)).status).toBe(404)
})

/** A contact with notes, the newest numbered 1, of a character that is six bytes in JSON. */
async function notedContact(count: number, content = sql<string>`repeat(chr(1), 100000)`): Promise<string> {
  const contactId = await tenant.contact(`noted${newId()}@example.com`)
  await sql`INSERT INTO notes (tenant_id, note_id, contact_id, content, created_at, updated_at)
    SELECT ${tenant.id}, gen_random_uuid(), ${contactId}, n || ' ' || ${content}, now() - n * interval '1 second', now()
    FROM generate_series(1, ${count}::int) AS n`.execute(service.stores.database)
  return contactId
}

const numbers = (notes: { content: string }[]) => notes.map(({ content }) => Number(content.split(' ')[0]))
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

test('the list pages, newest first', async () => {
  const id = await notedContact(250, sql`''`)
  const first = (await tenant.call('GET', `/v1/contacts/${id}/notes`)).body
  expect(numbers(first.notes)).toEqual(upTo(100))
  expect(first).toMatchObject({ returned: 100, total_items: 250 })
  expect(first.pagination).toEqual({ page: 1, limit: 100, total_pages: 3, total_items: 250 })
  const last = (await tenant.call('GET', `/v1/contacts/${id}/notes?page=13&limit=20`)).body
  expect(numbers(last.notes)).toEqual(upTo(250, 241))
  const past = (await tenant.call('GET', `/v1/contacts/${id}/notes?page=4`)).body
  expect([past.status, past.notes, past.returned]).toEqual(['success', [], 0])
  for (const query of ['limit=0', 'limit=101', 'page=0', 'limit=x']) {
    expect((await tenant.call('GET', `/v1/contacts/${id}/notes?${query}`)).status).toBe(400)
  }
})

describe('900 notes of 100,000 control characters', () => {
  let id: string

  beforeAll(async () => {
    id = await notedContact(900)
  })

  test('a page that does not fit is truncated, with a warning that names a sufficient limit', async () => {
    const { status, body } = await tenant.call('GET', `/v1/contacts/${id}/notes`)
    expect([status, body.truncated, body.returned]).toEqual([200, true, 13])
    expect(numbers(body.notes)).toEqual(upTo(13))
    expect(body.warnings).toEqual([expect.stringContaining('limit=13')])
    expect(body.pagination).toMatchObject({ limit: 100, total_items: 900 })
    for (const page of [1, 2, 70]) {
      const whole = (await tenant.call('GET', `/v1/contacts/${id}/notes?limit=13&page=${page}`)).body
      expect(whole).not.toHaveProperty('truncated')
      expect(numbers(whole.notes)).toEqual(upTo(Math.min(900, page * 13), (page - 1) * 13 + 1))
    }
  })

  test('a contact, a list of contacts and a batch include the newest notes that fit, and say so', async () => {
    const { contact } = (await tenant.call('GET', `/v1/contacts/${id}`)).body
    expect([numbers(contact.notes), contact.notes_truncated]).toEqual([upTo(13), true])
    const changed = (await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { a: 1 } })).body
    expect([numbers(changed.contact.notes), changed.contact.notes_truncated]).toEqual([upTo(13), true])
    const [other] = [await notedContact(5)]
    const { contacts } = (await tenant.call('POST', '/v1/batch/details', { entity_type: 'contacts', ids: [id, other] }))
      .body
    expect(contacts.map((each: { notes: { content: string }[] }) => numbers(each.notes))).toEqual([upTo(8), upTo(5)])
    expect(contacts.map((each: { notes_truncated?: true }) => each.notes_truncated)).toEqual([true, undefined])
    const list = (await tenant.call('GET', '/v1/contacts?limit=2&fields=notes')).body
    const listed = Object.fromEntries(
      list.contacts.map((each: { contact_id: string; notes: { content: string }[] }) => [each.contact_id, each.notes]),
    )
    expect(numbers(listed[other])).toEqual(upTo(5))
    expect(numbers(listed[id])).toEqual(upTo(8))
    const withoutNotes = (await tenant.call('GET', '/v1/contacts?fields=summary')).body
    expect(JSON.stringify(withoutNotes)).not.toContain('notes_truncated')
  })
})

test('100 long notes of emoji can be paged through', async () => {
  const id = await notedContact(100, sql`repeat('🎉', 99990)`)
  const { body } = await tenant.call('GET', `/v1/contacts/${id}/notes`)
  expect([body.returned, body.truncated, body.total_items]).toEqual([20, true, 100])
  const last = (await tenant.call('GET', `/v1/contacts/${id}/notes?limit=13&page=8`)).body
  expect(numbers(last.notes)).toEqual(upTo(100, 92))
})
