import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let path: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  path = `/v1/contacts/${await tenant.contact('noted@example.com')}/notes`
})

test('a note is created, listed newest first, changed and deleted, verbatim', async () => {
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
  const { status, body: answer } = await tenant.call('POST', path, body)
  expect([status, answer.error.code]).toEqual([400, 'validation_error'])
})

test('100,000 characters are stored as they are', async () => {
  const content = 'ß'.repeat(100_000)
  const { status, body } = await tenant.call('POST', path, { content })
  expect(status).toBe(201)
  expect(body.note.content).toBe(content)
})

test('validation comes before existence, and a note of another contact is 404', async () => {
  expect((await tenant.call('POST', `/v1/contacts/${newId()}/notes`, { content: 7 })).status).toBe(400)
  expect((await tenant.call('POST', `/v1/contacts/${newId()}/notes`, { content: 'x' })).status).toBe(404)
  expect((await tenant.call('GET', `/v1/contacts/${newId()}/notes`)).status).toBe(404)
  const { body } = await tenant.call('POST', path, { content: 'mine' })
  const other = await tenant.contact('other@example.com')
  expect((await tenant.call('DELETE', `/v1/contacts/${other}/notes/${body.note.note_id}`)).status).toBe(404)
})
