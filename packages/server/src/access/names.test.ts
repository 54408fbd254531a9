import { beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const MULTILINE = ['Eve\nBcc: all@example.com', 'Eve\r\nX', 'Eve\u2028X', 'Eve\u0085X', 'Eve\tX', 'E\u0007ve']
const LINKS = ['https://evil.example', 'Pay at http://evil', 'www.evil.example', 'evil.example/pay', '//evil.example']
const SITES = ['Claim it at evil.example', 'evil.com', 'bit.ly', 'Ada ( evil.example )', 'пример.рф']

test.each([...MULTILINE, ...LINKS, ...SITES])("%j cannot be a person's name", async (name) => {
  const person = await signedIn(service, tenant.id, 'owner')
  const { status, body } = await person.call('PATCH', '/api/me', { name })
  expect([status, body.error?.code]).toEqual([400, 'invalid_name'])
  const email = `${person.userId}@example.com`
  const invited = await person.call('POST', '/v1/invitations', { email, role: 'viewer' })
  const path = `/api/invitations/${invited.body.link.split('/').at(-1)}/accept`
  const joining = await new Browser(service).call('POST', path, { name, password: PASSWORD })
  expect([joining.status, joining.body.error?.code]).toEqual([400, 'invalid_name'])
  expect((await person.call('GET', '/api/me')).body.user.name).toBe('The owner')
})

test.each([...MULTILINE, ...LINKS])("%j cannot be a tenant's name", async (name) => {
  const person = await signedIn(service, tenant.id, 'owner')
  const { status, body } = await person.call('POST', '/api/tenants', { name })
  expect([status, body.error?.code]).toEqual([400, 'invalid_name'])
})

test.each([
  'Ada Byron',
  'J.R.R. Tolkien',
  'St. John',
  'O’Neill, M. D.',
  '山田 太郎',
  'Zoë 👩‍🚀',
  'Dr. h. c. X',
  'ada@example.com',
])('%j is a name', async (name) => {
  const person = await signedIn(service, tenant.id, 'owner')
  expect((await person.call('PATCH', '/api/me', { name })).body.name).toBe(name)
  expect((await person.call('POST', '/api/tenants', { name })).status).toBe(201)
})

test("a tenant's name may look like a site", async () => {
  const person = await signedIn(service, tenant.id, 'owner')
  expect((await person.call('POST', '/api/tenants', { name: 'Booking.com B.V.' })).status).toBe(201)
})
