import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMailbox, type TestMailbox } from '../../test/mailbox.ts'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { MINUTE_MS } from '../platform/time.ts'

let mailbox: TestMailbox
let service: TestService
let now = new Date()

beforeAll(async () => {
  mailbox = await startMailbox()
  const settings = {
    ...mailbox.settings,
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: '1000',
    CDS_RATE_LIMIT_INVITATIONS_PER_PERSON_PER_HOUR: '10',
    CDS_RATE_LIMIT_INVITATIONS_PER_TENANT_PER_HOUR: '15',
  }
  service = await startTestService(settings, { clock: () => now })
})
afterAll(async () => {
  await service.close()
  await mailbox.close()
})

type Person = Awaited<ReturnType<typeof signedIn>>

let addresses = 0
const address = () => `stranger${++addresses}@example.com`
const owner = async (tenantId?: string) => signedIn(service, tenantId ?? (await createTestTenant(service)).id, 'owner')
const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]
const invite = (by: Person, email: string) => by.call('POST', '/v1/invitations', { email, role: 'viewer' })
const mailsTo = (email: string) => mailbox.received.filter(({ to }) => to.includes(email)).length

test('an address gets at most five invitations an hour from all tenants together, including repeated ones', async () => {
  const email = address()
  const [one, two] = [await owner(), await owner()]
  const first = await invite(one, email)
  expect(first.status).toBe(201)
  const id = first.body.invitation.invitation_id
  const responses = await Promise.all([
    ...Array.from({ length: 6 }, () => one.call('POST', `/v1/invitations/${id}/renew`)),
    ...Array.from({ length: 6 }, () => invite(two, email)),
  ])
  expect(responses.filter(({ status }) => status < 300)).toHaveLength(4)
  const refused = responses.find(({ status }) => status === 429)
  expect(refused?.body.error.code).toBe('too_many_invitations_sent')
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(mailsTo(email)).toBe(5)
  // Another address of the same tenant has a limit of its own.
  expect((await invite(one, address())).status).toBe(201)
  now = new Date(now.getTime() + 61 * MINUTE_MS)
  expect((await invite(two, email)).status).toBe(201)
})

test('one tenant, or one person across all their tenants, can use at most three of them', async () => {
  const email = address()
  const [one, two] = [await owner(), await owner()]
  const statuses: number[] = []
  for (let n = 0; n < 5; n++) statuses.push((await invite(one, email)).status)
  const made = await one.call('POST', '/api/tenants', { name: 'Another one' })
  await one.call('POST', '/api/tenant', { tenant_id: made.body.tenant_id })
  statuses.push((await invite(one, email)).status)
  expect(statuses).toEqual([201, 201, 201, 429, 429, 429])
  expect((await invite(two, email)).status).toBe(201)
})

test('a person sends at most ten an hour, however many tenants they create', async () => {
  const person = await owner()
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) {
    if (n === 6) {
      const made = await person.call('POST', '/api/tenants', { name: 'Another one' })
      await person.call('POST', '/api/tenant', { tenant_id: made.body.tenant_id })
    }
    statuses.push((await invite(person, address())).status)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
})

test('a tenant sends at most fifteen an hour, however many of its members send them', async () => {
  const { id } = await createTestTenant(service)
  const [one, two] = [await owner(id), await owner(id)]
  const statuses: number[] = []
  for (let n = 0; n < 18; n++) statuses.push((await invite(n % 2 ? one : two, address())).status)
  expect(statuses).toEqual([...Array(15).fill(201), 429, 429, 429])
})

test('an invitation that is refused for another reason is not counted', async () => {
  const person = await owner()
  for (let n = 0; n < 12; n++) expect(outcome(await invite(person, person.email))).toEqual([409, 'already_member'])
  expect((await invite(person, address())).status).toBe(201)
})

test('an API key sends at most ten an hour, like a person', async () => {
  const tenant = await createTestTenant(service)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) {
    statuses.push((await tenant.call('POST', '/v1/invitations', { email: address(), role: 'viewer' })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(201), 429, 429])
})
