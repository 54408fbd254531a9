import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { hasDovecot, type Mailbox } from '../../server/test/dovecot.ts'
import { type MailBench, startMailBench } from '../../server/test/mail.ts'
import { type OAuthProvider, startOAuthProvider } from '../../server/test/oauth-provider.ts'
import { freePort } from '../../server/test/ports.ts'
import { createTestTenant, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, screenshot, type TestBrowser } from './browser.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> The person declined.'

describe.skipIf(!HAS_BROWSER || !hasDovecot)('a mailbox at a provider', () => {
  let bench: MailBench
  let browser: TestBrowser
  let google: OAuthProvider
  let tenant: TestTenant
  let mailbox: Mailbox
  let identityId: string
  let mailboxes = 0

  beforeAll(async () => {
    const port = String(await freePort())
    const publicUrl = `http://127.0.0.1:${port}`
    google = await startOAuthProvider({
      issuer: 'https://accounts.google.com',
      usesPkce: true,
      authentication: 'form',
      redirectUri: `${publicUrl}/authorized`,
    })
    bench = await startMailBench({ PORT: port, CDS_PUBLIC_URL: publicUrl }, { google: google.url })
    browser = await openBrowser(bench.service)
  })
  afterAll(async () => {
    await browser?.close()
    await bench?.close()
    await google?.close()
  })
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    const named = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
    identityId = (await tenant.call('POST', '/v1/identities', named)).body.identity.identity_id
    mailbox = await bench.servers.addMailbox(`grace${++mailboxes}@mail.example`)
    Object.assign(google, { denial: null, now: bench.now })
    google.account = { email: mailbox.user, claims: { email_verified: true } }
    google.onIssued = (_, token) => {
      mailbox.accessToken = token
    }
  })

  const setClient = () => {
    const { id, secret } = google.client
    return tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret: secret })
  }
  /** Problems of our pages, without the way to the provider, which is another host. */
  const problems = () => browser.problems.filter((problem) => !problem.includes(google.url))

  test('a person stores the OAuth client, signs in, comes back, and signs in again when the access ends', async () => {
    const page = await browser.signedIn(tenant, { path: `/identities/${identityId}` })
    await page.getByRole('button', { name: 'Connect Microsoft 365' }).waitFor()
    await page.getByRole('button', { name: 'Connect Google' }).click()
    const dialog = page.getByRole('dialog', { name: 'OAuth client for Google' })
    await dialog.waitFor()
    expect(await dialog.getByLabel('Redirect URL', { exact: true }).inputValue()).toBe(
      `${bench.service.config.publicUrl}/authorized`,
    )
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Connect Google' }).click()
    expect(await checkPage(page, 'oauth-client')).toEqual([])
    await dialog.getByLabel('Client ID').fill('not an id')
    await dialog.getByRole('textbox', { name: 'Client secret' }).fill(google.client.secret)
    await dialog.getByRole('button', { name: 'Save and sign in' }).click()
    await dialog.getByRole('alert').getByText('client_id').waitFor()
    await dialog.getByLabel('Client ID').fill(google.client.id)
    await dialog.getByRole('button', { name: 'Save and sign in' }).click()

    await page.waitForURL(`**/identities/${identityId}`)
    const card = page.getByRole('region', { name: 'Mailbox' })
    await card.getByText('connected', { exact: true }).waitFor()
    await card.getByText(mailbox.user, { exact: true }).first().waitFor()
    await card.getByText('a sign-in at Google').waitFor()
    expect(await checkPage(page, 'identity-signed-in')).toEqual([])

    google.revokeAll()
    mailbox.accessToken = 'of nobody'
    await card.getByRole('button', { name: 'Test the login' }).click()
    await card.getByText('The access has ended').waitFor()
    await card.getByText('Google no longer allows access to this mailbox').waitFor()
    expect(await checkPage(page, 'identity-access-ended')).toEqual([])
    await card.getByRole('button', { name: 'Sign in again' }).click()
    await card.getByText('connected', { exact: true }).waitFor()
    expect(google.asked.at(-1)?.get('login_hint')).toBe(mailbox.user)
    // Going back in the browser does not use the code again.
    const forms = google.forms.length
    await openWithin(page, '/authorized')
    await page.getByText('There is no sign-in to complete').waitFor()
    expect(google.forms).toHaveLength(forms)
    expect(problems()).toEqual([])
  })

  test('a person who declines reads so, and goes back to where they were', async () => {
    await setClient()
    google.denial = { error: 'access_denied', description: HOSTILE }
    const page = await browser.signedIn(tenant, { path: `/identities/${identityId}` })
    await page.getByRole('button', { name: 'Connect Google' }).click()
    await page.getByRole('heading', { name: 'The sign-in was not completed' }).waitFor()
    await page.getByRole('alert').getByText('Access was not allowed at Google').waitFor()
    await page.getByRole('alert').getByText(HOSTILE).waitFor()
    expect(new URL(page.url()).search).toBe('')
    expect(await checkPage(page, 'authorized-denied')).toEqual([])
    await page.reload()
    await page.getByRole('alert').getByText('This sign-in was already used').waitFor()
    await page.getByRole('button', { name: 'Go back' }).click()
    await page.waitForURL(`**/identities/${identityId}`)
    await page.getByRole('button', { name: 'Connect Google' }).waitFor()
    expect(problems()).toEqual([])
  })

  test('another person cannot complete a sign-in, and a made-up one shows nothing of what it says', async () => {
    await setClient()
    const page = await browser.signedIn(tenant, { role: 'admin', path: '/identities' })
    const purpose = { kind: 'mailbox', identity_id: identityId }
    const started = await tenant.call('POST', '/v1/authorizations', { provider: 'google', purpose })
    await page.goto(started.body.authorization_url)
    await page.getByRole('alert').getByText('Someone else started this sign-in').waitFor()
    await page.getByText(/^cdsctl authorization complete --tenant ID --state '/).waitFor()
    expect(await checkPage(page, 'authorized-of-another')).toEqual([])

    const made = { state: 'made-up', error: 'access_denied', error_description: 'Call 555-0100 at once' }
    await page.goto(`/authorized?${new URLSearchParams(made)}`)
    await page.getByRole('alert').getByText('This sign-in is not known in this workspace').waitFor()
    expect(await page.getByText('555-0100').count()).toBe(0)
    // The start page is this site's, whatever is stored.
    await page.evaluate(() => sessionStorage.setItem('cds-authorization-started-at', '//evil.example/'))
    await page.getByRole('button', { name: 'Go back' }).click()
    await page.waitForURL(`${bench.service.config.publicUrl}/`)
    expect((await tenant.call('GET', `/v1/identities/${identityId}`)).body.identity.email_account.address).toBeNull()
    expect(problems()).toEqual([])
  })

  test('the OAuth clients are listed, changed and deleted in the settings', async () => {
    await setClient()
    const page = await browser.signedIn(tenant, { path: '/settings/oauth-clients' })
    const row = page.getByRole('row').filter({ hasText: 'Google' })
    await row.getByText(google.client.id).waitFor()
    expect(await checkPage(page, 'settings-oauth-clients')).toEqual([])
    await page.getByRole('button', { name: 'Set for Salesforce' }).click()
    await page.getByRole('dialog').getByLabel('Client ID').fill('3MVG9')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Client secret' }).fill('a-secret')
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'Salesforce' }).getByText('3MVG9').waitFor()
    await page.getByRole('button', { name: 'Delete the client for Google' }).click()
    await screenshot(page, 'settings-oauth-client-delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete client' }).click()
    await row.getByText('none').waitFor()
    expect(problems()).toEqual([])
  })

  test('a viewer sees the OAuth clients, but cannot change them, or connect a mailbox', async () => {
    await setClient()
    const page = await browser.signedIn(tenant, { role: 'viewer', path: '/settings/oauth-clients' })
    await page.getByText(google.client.id).waitFor()
    expect(await page.getByRole('button', { name: /Set for|Change for/ }).count()).toBe(0)
    await openWithin(page, `/identities/${identityId}`)
    await page.getByText('No mailbox').waitFor()
    expect(await page.getByRole('button', { name: 'Connect Google' }).count()).toBe(0)
    expect(problems()).toEqual([])
  })
})
