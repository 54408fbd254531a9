import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMailbox, type TestMailbox, tokenIn } from '../../../test/mailbox.ts'
import {
  OPENID_CLIENT,
  type OpenIdProvider,
  startOpenIdProvider,
  visitProvider,
} from '../../../test/openid-provider.ts'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

/* A person is invited, invited again, mailed and signed in by any spelling of their address. */

let mailbox: TestMailbox
let provider: OpenIdProvider
let service: TestService
let tenant: TestTenant
let owner: Browser

beforeAll(async () => {
  mailbox = await startMailbox()
  provider = await startOpenIdProvider({ sub: '1', email: '', email_verified: true, name: 'Kim' })
  service = await startTestService({
    ...mailbox.settings,
    CDS_PUBLIC_URL: 'https://cdp.example.com',
    CDS_OIDC_ISSUER: provider.issuer,
    CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
    CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
  })
  tenant = await createTestTenant(service)
  owner = await signedIn(service, tenant.id, 'owner')
})
afterAll(async () => {
  await service?.close()
  await provider?.close()
  await mailbox?.close()
})

/** The spellings of an address that differ from the stored one. */
const spellingsOf = (name: string) => [
  `${name}@b\u00fccher.example`,
  `${name}@bu\u0308cher.example`,
  `${name.toUpperCase()}@BÜCHER.Example`,
  `\u200b${name}@xn--bcher-kva.example`,
  `${name}\u00ad@bücher。example\ufeff`,
  `${name}@ｂücher．example.`,
]
const KINDS = ['in NFC', 'in NFD', 'in capitals', 'with a zero-width space', 'with other dots', 'in full width']
const storedOf = (name: string) => `${name}@xn--bcher-kva.example`
/** The newest mail to a person. The mail server of the test writes domains in Unicode. */
const mailTo = (name: string) => mailbox.newest(`${name}@bücher.example`)

let people = 0
const newName = () => `kim${++people}`

const invite = (email: string) => owner.call('POST', '/v1/invitations', { email, role: 'member' })
const accept = async (browser: Browser, name: string, body: object) => {
  const token = tokenIn(await mailTo(name))
  return browser.call('POST', `/api/invitations/${token}/accept`, body)
}

/** Creates a person by an invitation to this spelling of their address. */
async function join(name: string, email = storedOf(name)): Promise<Browser> {
  expect((await invite(email)).body).toMatchObject({ mailed: true, invitation: { email: storedOf(name) } })
  const browser = new Browser(service)
  expect((await accept(browser, name, { name: 'Kim', password: PASSWORD })).status).toBe(200)
  return browser
}

const emailOf = async (browser: Browser) => (await browser.call('GET', '/api/me')).body.user?.email
const requestLink = (email: string) => new Browser(service).call('POST', '/api/auth/request-password-reset', { email })

describe.each(KINDS.map((kind, index) => ({ kind, index })))('an address $kind', ({ index }) => {
  const spelled = (name: string) => spellingsOf(name)[index] ?? ''

  test('is invited under the stored address, and the person signs in with every other spelling', async () => {
    const name = newName()
    const browser = await join(name, spelled(name))
    expect(await emailOf(browser)).toBe(storedOf(name))
    for (const other of [...spellingsOf(name), storedOf(name)]) {
      expect([other, await emailOf(await new Browser(service).signIn(other))]).toEqual([other, storedOf(name)])
    }
  })

  test('is that of a member who was invited by the stored one', async () => {
    const name = newName()
    await join(name)
    expect(await emailOf(await new Browser(service).signIn(spelled(name)))).toBe(storedOf(name))
    const again = await invite(spelled(name))
    expect([again.status, again.body.error.code]).toEqual([409, 'already_member'])
  })

  test('replaces the invitation to another spelling, whose link stops working', async () => {
    const name = newName()
    await invite(storedOf(name))
    const first = tokenIn(await mailTo(name))
    await invite(spelled(name))
    const { invitations } = (await owner.call('GET', '/v1/invitations?limit=100')).body
    expect(invitations.filter(({ email }: { email: string }) => email.includes(name))).toHaveLength(1)
    expect((await new Browser(service).call('GET', `/api/invitations/${first}`)).status).toBe(404)
  })

  test('gets the link for a new password, and signs in with that', async () => {
    const name = newName()
    await join(name)
    const before = mailbox.received.length
    await requestLink(spelled(name))
    await expect.poll(() => mailbox.received.length).toBe(before + 1)
    const mail = await mailTo(name)
    const reset = { token: tokenIn(mail), newPassword: `${PASSWORD} again` }
    const browser = new Browser(service)
    expect((await browser.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
    await new Browser(service).signIn(spelled(name), `${PASSWORD} again`)
  })

  test('is that of the account when the OpenID provider says it', async () => {
    const name = newName()
    await join(name)
    provider.person = { sub: `of ${name}`, email: spelled(name), email_verified: true, name: 'Kim' }
    for (let visits = 0; visits < 2; visits++) {
      const browser = new Browser(service)
      expect(await visitProvider(service, browser)).toBe('/')
      expect(await emailOf(browser)).toBe(storedOf(name))
    }
  })

  test('accepts an invitation to another spelling after a sign-in at the OpenID provider', async () => {
    const name = newName()
    await invite(storedOf(name))
    provider.person = { sub: `of ${name}`, email: spelled(name), email_verified: true, name: 'Kim' }
    const browser = new Browser(service)
    expect(await visitProvider(service, browser)).toBe('/')
    expect((await accept(browser, name, {})).status).toBe(200)
    expect(await emailOf(browser)).toBe(storedOf(name))
  })
})
