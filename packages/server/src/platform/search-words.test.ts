import { expect, test } from 'vitest'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService } from '../../test/service.ts'

test.each([
  '/v1/contacts?',
  '/v1/contacts?count_only=true&',
  '/v1/companies?',
  '/v1/events?',
  '/v1/contacts/export.csv?',
  '/v1/companies/export.csv?',
  '/v1/events/export.csv?',
  '/v1/identities?',
])('%s accepts a search of ten words and rejects one of eleven', async (path) => {
  const service = await sharedService()
  const tenant = await createTestTenant(service)
  const viewer = await signedIn(service, tenant.id, 'owner')
  const words = Array.from({ length: 10 }, (_, index) => `word${index}`).join('%20')
  expect((await viewer.call('GET', `${path}search=${words}%20%09%20`)).status).toBe(200)
  const { status, body } = await viewer.call('GET', `${path}search=${words}%20x`)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
  expect(body.error.details).toEqual([{ path: 'search', message: 'must be at most 10 words' }])
})
