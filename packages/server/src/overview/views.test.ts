import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let member: Browser

const VIEW = {
  name: 'Leads',
  page: 'contacts',
  query: { lifecycle_stage: 'lead', page: 2 },
  columns: ['email', 'city'],
}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  member = await signedIn(service, tenant.id, 'member')
})

test('a view is saved, listed for all members, replaced and deleted', async () => {
  const made = await member.call('POST', '/v1/views', VIEW)
  expect(made.status).toBe(201)
  expect(made.body.view).toMatchObject({ ...VIEW, created_by: { name: 'The member' } })
  const viewer = await signedIn(service, tenant.id, 'viewer')
  expect((await viewer.call('GET', '/v1/views')).body).toMatchObject({
    views: [made.body.view],
    pagination: { page: 1, limit: 20, total_pages: 1, total_items: 1 },
  })
  expect((await viewer.call('GET', '/v1/views?page=2&limit=1')).body.views).toEqual([])
  const path = `/v1/views/${made.body.view.view_id}`
  const changed = await member.call('PUT', path, { ...VIEW, name: 'Hot leads', query: {} })
  expect(changed.body.view).toMatchObject({ name: 'Hot leads', query: {} })
  expect((await viewer.call('DELETE', path)).status).toBe(403)
  expect((await member.call('DELETE', path)).body).toMatchObject({ deleted: true })
  expect((await member.call('DELETE', path)).status).toBe(404)
  const owner = await signedIn(service, tenant.id, 'owner')
  const { body } = await owner.call('GET', '/v1/audit-log?subject_kind=view')
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'view.deleted',
    'view.updated',
    'view.created',
  ])
  expect(body.entries[0].actor).toMatchObject({ kind: 'user', name: 'The member' })
})

test("a view's name is unique per page, even for concurrent requests", async () => {
  const taken = { ...VIEW, name: 'Taken' }
  const responses = await Promise.all([1, 2, 3].map(() => member.call('POST', '/v1/views', taken)))
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  const other = await member.call('POST', '/v1/views', { ...VIEW, name: 'Other' })
  const renamed = await member.call('PUT', `/v1/views/${other.body.view.view_id}`, taken)
  expect([renamed.status, renamed.body.error.code]).toEqual([409, 'view_name_taken'])
  expect((await member.call('POST', '/v1/views', { ...taken, page: 'events' })).status).toBe(201)
})

test('a view of more than 64 KiB is 413, so that all views fit into one response', async () => {
  const query = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, 'x'.repeat(2_000)]))
  const { status, body } = await member.call('POST', '/v1/views', { ...VIEW, name: 'Large', query })
  expect([status, body.error.code]).toEqual([413, 'body_too_large'])
})

test.each([
  [{ ...VIEW, name: '' }, 'name'],
  [{ ...VIEW, name: 'x'.repeat(101) }, 'name'],
  [{ ...VIEW, page: 'agents' }, 'page'],
  [{ ...VIEW, query: { a: { b: 1 } } }, 'query'],
  [{ ...VIEW, query: { a: 'x'.repeat(6_001) } }, 'query'],
  [{ ...VIEW, query: [] }, 'query'],
  [{ ...VIEW, query: Object.fromEntries(Array.from({ length: 61 }, (_, i) => [`k${i}`, 1])) }, 'query'],
  [{ ...VIEW, columns: 'email' }, 'columns'],
  [{ ...VIEW, columns: Array.from({ length: 101 }, () => 'c') }, 'columns'],
  [{ ...VIEW, more: 1 }, 'more'],
  [{}, 'name'],
])('the view %j is 400 and names %s', async (body, path) => {
  const response = await member.call('POST', '/v1/views', body)
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  expect(response.body.error.details[0].path).toMatch(new RegExp(`^${path}`))
})
