import { beforeAll, beforeEach, expect, test } from 'vitest'
import { act, ended, importWithCommand, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** Imports a file with a tag. */
async function importTagged(text: string, tag: string) {
  const { import_id } = await uploaded(tenant, text)
  const { status, body } = await tenant.call('POST', `/v1/imports/${import_id}/start`, { tag })
  expect([status, body.error]).toEqual([202, undefined])
  return ended(tenant, import_id, 'completed')
}

const tagsOf = async (email: string) =>
  (await tenant.call('GET', `/v1/contacts?search=${email}&include=provenance`)).body.contacts[0]?.properties.tags

test('every contact of a file gets the tag of its import, besides the tags that it has', async () => {
  await tenant.contact('list@x.example', { tags: ['vip'] })
  await tenant.contact('text@x.example', { tags: 'vip, press' })
  const done = await importTagged(
    'email,city\nnew@x.example,Rome\nlist@x.example,Oslo\ntext@x.example,\nnobody,Bern\n',
    ' Fair 2026 ',
  )
  expect(done).toMatchObject({ tag: 'Fair 2026', counts: { created: 1, updated: 2, failed: 1 } })
  expect(await tagsOf('new@x.example')).toEqual(['Fair 2026'])
  expect(await tagsOf('list@x.example')).toEqual(['vip', 'Fair 2026'])
  expect(await tagsOf('text@x.example')).toEqual(['vip', 'press', 'Fair 2026'])
  // A second file keeps the tag of the first one, and its own tags are those of its column.
  await importTagged('email,Tags\nnew@x.example,\nlist@x.example,"board, press"\n', 'Fair 2027')
  expect(await tagsOf('new@x.example')).toEqual(['Fair 2026', 'Fair 2027'])
  expect(await tagsOf('list@x.example')).toEqual(['board', 'press', 'Fair 2027'])
})

test('the tag is a condition of a segment, the same file changes nothing, and an undo takes the tag back', async () => {
  const text = 'email\nnew@x.example\nold@x.example\n'
  await tenant.contact('old@x.example', { tags: ['vip'] })
  const first = await importTagged(text, 'Fair 2026')
  expect((await importTagged(text, 'Fair 2026')).counts).toMatchObject({ created: 0, updated: 0, unchanged: 2 })
  const filter = { match: 'all', conditions: [{ property: 'tags', operator: 'equals', value: 'Fair 2026' }] }
  const { segment } = (await tenant.call('POST', '/v1/segments', { name: 'Fair 2026', filter })).body
  await until(async () => {
    const { body } = await tenant.call('GET', `/v1/segments/${segment.segment_id}`)
    expect(body.segment.contact_count).toBe(2)
  })
  await act(tenant, first, 'undo', 'undone')
  expect(await tagsOf('old@x.example')).toEqual(['vip'])
})

test('an import has no tag unless it is started with one, and none of white space or that opts out', async () => {
  const { import_id } = await uploaded(tenant, 'email\na@x.example\n')
  const blank = await tenant.call('POST', `/v1/imports/${import_id}/start`, { tag: '  ' })
  expect([blank.status, blank.body.error.details]).toEqual([
    400,
    [{ path: 'tag', message: 'must have a character other than white space' }],
  ])
  const silencing = await tenant.call('POST', `/v1/imports/${import_id}/start`, { tag: 'Unsubscribed' })
  expect(silencing.body.error.message).toContain('tag: means that contacts get no mail')
  expect(await act(tenant, { import_id }, 'start', 'completed')).toMatchObject({ tag: null })
  expect(await tagsOf('a@x.example')).toBe(undefined)
})

test('the command line tags as well', async () => {
  await importWithCommand(service, tenant, 'email\na@x.example\n', { tag: 'Fair 2026' })
  expect(await tagsOf('a@x.example')).toEqual(['Fair 2026'])
})
