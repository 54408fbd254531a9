import { expect, test } from 'vitest'
import { seededRandom } from '../../test/seed.ts'
import { createTestTenant, sharedService } from '../../test/service.ts'

test('concurrent pushes of the same contacts all succeed, and create each contact once', async () => {
  const tenant = await createTestTenant(await sharedService())
  const random = seededRandom()
  const record = () => {
    const person = Math.floor(random() * 4_000)
    return { external_id: `c${person}`, email: `p${person}@example.com`, properties: { city: 'Rome' } }
  }
  const push = () => tenant.call('POST', '/v1/sources/crm/contacts', { records: Array.from({ length: 100 }, record) })
  const responses = await Promise.all(Array.from({ length: 60 }, push))
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  const created = responses.flatMap(({ body }) =>
    body.results.filter(({ status }: { status: string }) => status === 'created'),
  )
  expect(new Set(created.map(({ contact_id }) => contact_id)).size).toBe(created.length)
  const { body } = await tenant.call('GET', '/v1/contacts?count_only=true')
  expect(body.count).toBe(created.length)
})
