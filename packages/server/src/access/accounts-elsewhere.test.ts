import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestResponse, type TestService } from '../../test/service.ts'

const THEIRS = 'chosen by the inviter'

let service: TestService

beforeAll(async () => {
  service = await startTestService({ CDS_RATE_LIMITS: 'on', CDS_TRUST_PROXY: '1' }, { clock: () => now })
})
afterAll(() => service.close())

const now = new Date()
let networks = 0

/** A response without the parts that differ between any two invitations. */
function comparable({ status, body, headers }: TestResponse, email: string) {
  const text = JSON.stringify({ body, headers: [...headers.entries()].filter(([name]) => name !== 'date') })
  const plain = text
    .replaceAll(email, 'ADDRESS')
    .replaceAll(encodeURIComponent(email), 'ADDRESS')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\/invitation\/[\w-]+/g, '/invitation/TOKEN')
    .replace(/(token|two_factor)=[^;"]+/g, '$1=COOKIE')
    .replace(/secret=\w+/g, 'secret=SECRET')
    .replace(/"backupCodes":\[[^\]]*\]/, '"backupCodes":[]')
    .replace(/"content-length","\d+"/, '"content-length",""')
  return { status, ...JSON.parse(plain) }
}

/** Does everything that an owner can do with an address and its invitation link, in a fixed order. */
async function everythingAbout(email: string) {
  const ip = `10.20.0.${++networks}`
  const tenant = await createTestTenant(service)
  const owner = await signedIn(service, tenant.id, 'owner')
  await owner.call('PATCH', '/api/me', { name: 'The owner' })
  const seen: [step: string, object][] = []
  const call = async (step: string, by: Browser, method: string, path: string, body?: object) => {
    const response = await by.call(method, path, body, { ...by.ownSite, 'x-forwarded-for': ip })
    const other = owner.email
    seen.push([step, JSON.parse(JSON.stringify(comparable(response, email)).replaceAll(other, 'OWNER'))])
    return response
  }
  const tokenOf = ({ body }: TestResponse) => body.link.split('/').at(-1)
  const invited = await call('create', owner, 'POST', '/v1/invitations', { email, role: 'viewer' })
  await call('list', owner, 'GET', '/v1/invitations')
  await call('open the first link', owner, 'GET', `/api/invitations/${tokenOf(invited)}`)
  const { invitation_id: id } = invited.body.invitation
  const link = `/api/invitations/${tokenOf(await call('renew', owner, 'POST', `/v1/invitations/${id}/renew`))}`
  const guest = new Browser(service)
  await call('open', guest, 'GET', link)
  await call('accept as oneself', owner, 'POST', `${link}/accept`, {})
  await call('accept without a password', guest, 'POST', `${link}/accept`, {})
  await call('accept with a short password', guest, 'POST', `${link}/accept`, { name: 'X', password: 'short' })
  await call('guess a password', guest, 'POST', '/api/auth/sign-in/email', { email, password: THEIRS })
  await call('accept', guest, 'POST', `${link}/accept`, { name: 'X', password: THEIRS })
  await call('accept again', guest, 'POST', `${link}/accept`, { name: 'X', password: THEIRS })
  await call('read the account', guest, 'GET', '/api/me')
  await call('set up a second factor', guest, 'POST', '/api/auth/two-factor/enable', { password: THEIRS })
  await call('sign in', new Browser(service), 'POST', '/api/auth/sign-in/email', { email, password: THEIRS })
  await call('request a new password', guest, 'POST', '/api/auth/request-password-reset', { email })
  await call('invite a member', owner, 'POST', '/v1/invitations', { email, role: 'viewer' })
  const { members } = (await call('list the team', owner, 'GET', '/v1/members')).body
  const member = members.find((each: { email: string }) => each.email === email)
  await call('remove', owner, 'DELETE', `/v1/members/${member?.user_id}`)
  await call('read the removed account', guest, 'GET', '/api/me')
  const again = tokenOf(await call('invite again', owner, 'POST', '/v1/invitations', { email, role: 'viewer' }))
  const fresh = new Browser(service)
  await call('accept again', fresh, 'POST', `/api/invitations/${again}/accept`, { name: 'Y', password: PASSWORD })
  await call('read the new account', fresh, 'GET', '/api/me')
  await call('read the audit log', owner, 'GET', '/v1/audit-log')
  return seen
}

test('without a mail server, an inviter gets the same responses for an address with and without an account elsewhere', async () => {
  const elsewhere = await createTestTenant(service)
  const verified = await signedIn(service, elsewhere.id, 'member')
  const owner = await signedIn(service, elsewhere.id, 'owner')
  const { body } = await owner.call('POST', '/v1/invitations', { email: 'vouched@example.com', role: 'viewer' })
  const joined = { name: 'Vera', password: 'of another tenant' }
  const path = `/api/invitations/${body.link.split('/').at(-1)}/accept`
  expect((await new Browser(service).call('POST', path, joined)).status).toBe(200)

  const without = await everythingAbout('nobody@example.com')
  expect(without.find(([step]) => step === 'accept')?.[1]).toMatchObject({ status: 200, body: { signed_in: true } })
  expect(await everythingAbout(verified.email)).toEqual(without)
  expect(await everythingAbout('vouched@example.com')).toEqual(without)
})
