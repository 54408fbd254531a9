import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMailbox, type TestMailbox, tokenIn } from '../../../test/mailbox.ts'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let mailbox: TestMailbox
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  mailbox = await startMailbox()
  service = await startTestService({ ...mailbox.settings, CDS_PUBLIC_URL: 'https://cdp.example.com' })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  await service.close()
  await mailbox.close()
})

const invite = async (email: string) => {
  const owner = await signedIn(service, tenant.id, 'owner')
  return { owner, invited: await owner.call('POST', '/v1/invitations', { email, role: 'member' }) }
}

test('an invitation is mailed, and only the mail has its link', async () => {
  const { owner, invited } = await invite('guest@example.com')
  expect(invited.body).toMatchObject({ mailed: true, link: null })
  const first = await mailbox.newest('guest@example.com')
  expect([first.from, first.to]).toEqual(['cds@example.com', ['guest@example.com']])
  expect(first.text).toContain('https://cdp.example.com/invitation/')
  expect(first.text).toContain(owner.email)
  const seen = await new Browser(service).call('GET', `/api/invitations/${tokenIn(first)}`)
  expect(seen.body).toMatchObject({ email: 'guest@example.com', role: 'member' })

  const { invitation_id } = invited.body.invitation
  const again = await owner.call('POST', `/v1/invitations/${invitation_id}/renew`)
  expect(again.body).toMatchObject({ mailed: true, link: null })
  const second = await mailbox.newest('guest@example.com')
  for (const { body } of [invited, again, await owner.call('GET', '/v1/invitations')]) {
    for (const mail of [first, second]) expect(JSON.stringify(body)).not.toContain(tokenIn(mail))
  }
})

test('the mail of an API key names no inviter, because a key can have any name', async () => {
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'Pay at https://evil.example', scopes: ['all'] })
  const invitation = { email: 'guest-of-key@example.com', role: 'viewer' }
  const invited = await tenant.call('POST', '/v1/invitations', invitation, created.body.api_key)
  expect(invited.body).toMatchObject({ mailed: true, link: null, invitation })
  const { text } = await mailbox.newest(invitation.email)
  expect(text).toContain('You are invited')
  expect(text).not.toContain('evil')
})

test.each([
  ['a line break', 'Eve\r\nBcc: all@example.com\r\n\r\nClick here'],
  ['a link', 'Your invoice: https://evil.example/pay'],
  ['the name of a site', 'Claim your prize at evil.example'],
])('%s in a name stored before names were checked does not appear in the mail', async (_what, name) => {
  const owner = await signedIn(service, tenant.id, 'owner')
  await service.stores.database.updateTable('users').set({ name }).where('id', '=', owner.userId).execute()
  const email = `${owner.userId}@example.com`
  await owner.call('POST', '/v1/invitations', { email, role: 'member' })
  const { to, text } = await mailbox.newest(email)
  expect(to).toEqual([email])
  expect(text).toContain(owner.email)
  for (const part of ['Bcc', 'Click', 'evil']) expect(text).not.toContain(part)
})

test('an invitation stays valid if the mail server rejects it, and its link is shown to nobody', async () => {
  mailbox.refuses = true
  const { owner, invited } = await invite('guest3@example.com')
  mailbox.refuses = false
  expect([invited.status, invited.body.mailed, invited.body.link]).toEqual([201, false, null])
  const { invitation_id } = invited.body.invitation
  expect((await owner.call('POST', `/v1/invitations/${invitation_id}/renew`)).body.mailed).toBe(true)
  expect((await mailbox.newest('guest3@example.com')).text).toContain('/invitation/')
})

test('a password reset link is mailed only to an address with an account', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const browser = new Browser(service)
  expect((await browser.call('GET', '/api/sign-in-options')).body.password_reset).toBe('mail')
  await browser.call('POST', '/api/auth/request-password-reset', { email: 'nobody@example.com' })
  await browser.call('POST', '/api/auth/request-password-reset', { email: person.email })
  const mail = await mailbox.newest(person.email)
  expect(mail.to).toEqual([person.email])
  expect(mailbox.received.flatMap(({ to }) => to)).not.toContain('nobody@example.com')
  const reset = { token: tokenIn(mail), newPassword: `${PASSWORD} again` }
  expect((await browser.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
  await new Browser(service).signIn(person.email, `${PASSWORD} again`)
  const stored = await service.stores.database.selectFrom('user_verifications').select('identifier').execute()
  expect(JSON.stringify(stored)).not.toContain(reset.token)
})

test('an invitation gets the same response for an address with and without an account elsewhere', async () => {
  const elsewhere = await signedIn(service, (await createTestTenant(service)).id, 'member')
  const { owner } = await invite('first@example.com')
  const seen = async (email: string) => {
    const { status, body, headers } = await owner.call('POST', '/v1/invitations', { email, role: 'member' })
    const renewed = await owner.call('POST', `/v1/invitations/${body.invitation.invitation_id}/renew`)
    const { invitations } = (await owner.call('GET', '/v1/invitations')).body
    const listed = invitations.find((each: { email: string }) => each.email === email)
    const page = await owner.call('GET', `/api/invitations/${tokenIn(await mailbox.newest(email))}`)
    const all = { status, body, headers: [...headers.keys()], renewed: renewed.body, listed, page: page.body }
    // Removes what differs between any two invitations.
    return JSON.stringify(all)
      .replaceAll(email, 'ADDRESS')
      .replace(/"(invitation_id|expires_at)":"[^"]+"/g, '"$1":""')
  }
  expect(await seen(elsewhere.email)).toBe(await seen('nobody.yet@example.com'))
})
