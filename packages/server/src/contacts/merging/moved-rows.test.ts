import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService } from '../../../test/service.ts'
import { noteSourceDeletions } from '../source-deletions.ts'

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

test('a row that both contacts have stays with the survivor, and an unmerge gives it back to both', async () => {
  const tenant = await createTestTenant(service)
  const [ada, countess] = [await tenant.contact('ada@example.com'), await tenant.contact('countess@example.com')]
  await noteSourceDeletions(tenant.handle, 'crm', [ada, countess])
  await noteSourceDeletions(tenant.handle, 'shop', [ada])
  const sourcesOf = async (id: string) => {
    const rows = tenant.handle.db.selectFrom('contact_source_deletions').select('source').where('contact_id', '=', id)
    return (await rows.orderBy('source').execute()).map(({ source }) => source)
  }
  expect((await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: countess })).status).toBe(200)
  expect(await sourcesOf(countess)).toEqual(['crm', 'shop'])
  // What the survivor gets later is its own.
  await noteSourceDeletions(tenant.handle, 'billing', [countess])
  expect((await tenant.call('POST', `/v1/contacts/${ada}/unmerge`)).status).toBe(200)
  expect([await sourcesOf(ada), await sourcesOf(countess)]).toEqual([
    ['crm', 'shop'],
    ['billing', 'crm'],
  ])
})
