import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { authorizationRequest, CALLBACK, register } from '../../server/test/oauth.ts'
import { OPENID_CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../server/test/openid-provider.ts'
import { PASSWORD, signedIn } from '../../server/test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { codeOf } from '../../server/test/totp.ts'
import { accessibilityProblems, checkPage, openBrowser, person, screenshot, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('signing in', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser

  beforeAll(async () => {
    service = await startTestService()
    browser = await openBrowser(service)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  test('starts with an owner, who uses the link from the console', async () => {
    const page = await browser.tab()
    await page.goto('/contacts')
    await page.waitForURL('**/setup')
    await page.getByRole('heading', { name: 'Open the setup link' }).waitFor()
    expect(await checkPage(page, 'setup-without-link')).toEqual([])
    const link = (await service.findSetupLink()) ?? ''
    await page.goto(link.replace(/token=.*/, 'token=wrong'))
    await page.getByLabel('Workspace name').fill('Analytical Engines')
    await page.getByLabel('Your name').fill('Ada Byron')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('The setup link is not valid.').waitFor()
    await page.goto(link)
    // It must not stay visible in the address bar and the history.
    await page.waitForURL((url) => url.pathname === '/setup' && url.hash === '')
    await page.getByLabel('Workspace name').waitFor()
    expect(await checkPage(page, 'setup')).toEqual([])
    await page.getByLabel('Workspace name').fill('Analytical Engines')
    await page.getByLabel('Your name').fill('Ada Byron')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    expect(await page.getByRole('button', { name: /Account and workspace/ }).textContent()).toContain(
      'Analytical Engines',
    )
    expect(browser.problems).toEqual([])
    await page.goto('/setup')
    await page.waitForURL('**/sign-in')
  })

  test('requires the right password, and opens the requested page', async () => {
    tenant = await createTestTenant(service)
    const email = await person(service, tenant.id, 'member')
    const page = await browser.tab()
    await page.goto('/contacts?search=ada')
    await page.waitForURL('**/sign-in?redirect=*')
    expect(await checkPage(page, 'sign-in')).toEqual([])
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill('wrong horse battery')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('The email or the password is incorrect.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/contacts?search=ada')
    await page.getByRole('heading', { name: 'No contact matches' }).waitFor()

    await page.getByRole('button', { name: /Account and workspace/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.goto('/contacts')
    await page.waitForURL('**/sign-in?redirect=*')
    expect(browser.problems).toEqual([])
  })

  test('never redirects to another site', async () => {
    const email = await person(service, tenant.id, 'member')
    const page = await browser.signedOut(`/sign-in?redirect=${encodeURIComponent('//evil.example/')}`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' })
    expect(page.url().replace(service.url, '')).toBe('/')
    expect(browser.problems).toEqual([])
  })

  test('is required again when the session has ended, and returns to the page', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
    await page.context().clearCookies()
    // Not by the pointer: the hover would prefetch the page, and redirect back to here.
    await page.getByRole('link', { name: 'Companies' }).dispatchEvent('click')
    await page.waitForURL('**/sign-in?redirect=*')
    expect(new URL(page.url()).searchParams.get('redirect')).toBe('/companies')
    expect(browser.problems).toEqual([])
  })

  test('asks for the code of two-factor authentication', async () => {
    const member = await signedIn(service, tenant.id, 'member')
    const { body } = await member.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
    const first = await member.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(body.totpURI) })
    expect(first.status).toBe(200)

    const page = await browser.signedOut('/sign-in')
    await page.getByLabel('Email').fill(member.email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    expect(await checkPage(page, 'sign-in-code')).toEqual([])
    await page.getByLabel('Code from your authenticator').fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The code is wrong, expired or already used.').waitFor()
    await page.getByRole('button', { name: 'Use a backup code' }).click()
    await page.getByLabel('Backup code').fill(body.backupCodes[0])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('starts for an invited person with the link of the invitation', async () => {
    const owner = await signedIn(service, tenant.id, 'owner')
    const { body } = await owner.call('POST', '/v1/invitations', { email: 'new@example.com', role: 'viewer' })
    const link = new URL(body.link)
    const page = await browser.signedOut(link.pathname)
    await page.getByRole('heading', { name: 'Join Test' }).waitFor()
    expect(await checkPage(page, 'invitation')).toEqual([])
    await page.getByLabel('Your name').fill('New Person')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.goto(link.pathname)
    await page.getByText('This invitation was used').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('returns a person who has an account to the invitation', async () => {
    const owner = await signedIn(service, tenant.id, 'owner')
    const email = await person(service, (await createTestTenant(service)).id, 'member')
    const { body } = await owner.call('POST', '/v1/invitations', { email, role: 'viewer' })
    const page = await browser.signedOut(new URL(body.link).pathname)
    await page.getByRole('link', { name: 'Sign in first' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Join Test' }).waitFor()
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('asks for the tenant if the password matches several accounts', async () => {
    const email = await person(service, tenant.id, 'member')
    const { id } = await createTestTenant(service)
    const tenants = service.stores.database.updateTable('tenants').where('tenant_id', '=', id)
    await tenants.set({ name: 'The other one' }).execute()
    const owner = await signedIn(service, id, 'owner')
    const { body } = await owner.call('POST', '/v1/invitations', { email, role: 'viewer' })
    const page = await browser.signedOut(new URL(body.link).pathname)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.context().clearCookies()
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Several accounts have this email').waitFor()
    expect(await checkPage(page, 'sign-in-several-accounts')).toEqual([])
    await page.getByRole('button', { name: 'The other one' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const { tenant: entered } = await page.evaluate(() => fetch('/api/me').then((response) => response.json()))
    expect(entered.tenant_id).toBe(id)
    expect(browser.problems).toEqual([])
  })
})

/** A separate service: a process can run one at a time. */
describe.skipIf(!HAS_BROWSER)("signing in at the organization's own provider", () => {
  let provider: OpenIdProvider
  let front: Awaited<ReturnType<typeof startFront>>
  let service: TestService
  let browser: TestBrowser

  beforeAll(async () => {
    provider = await startOpenIdProvider({ sub: '1', email: '', email_verified: true, name: 'Robin Marsh' })
    front = await startFront()
    service = await startTestService({
      CDS_PUBLIC_URL: front.url,
      CDS_OIDC_ISSUER: provider.issuer,
      CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
      CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
      CDS_OIDC_LABEL: 'Example SSO',
    })
    front.leadsTo(service.url)
    browser = await openBrowser({ ...service, url: front.url })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await front?.close()
    await provider?.close()
  })

  test('needs no password of the service', async () => {
    const { id } = await createTestTenant(service)
    const owner = await signedIn({ ...service, url: front.url }, id, 'owner')
    const { body } = await owner.call('POST', '/v1/invitations', { email: 'new@example.com', role: 'viewer' })
    const page = await browser.signedOut(new URL(body.link).pathname)
    await page.getByLabel('Your name').waitFor()
    await screenshot(page, 'invitation-oidc')
    provider.person = { ...provider.person, email: 'stranger@example.com' }
    await page.getByRole('button', { name: 'Example SSO' }).click()
    await page.waitForURL('**/sign-in?error=*')
    await screenshot(page, 'sign-in-oidc')
    provider.person = { ...provider.person, sub: '2', email: 'new@example.com' }
    await page.goto(new URL(body.link).pathname)
    await page.getByRole('button', { name: 'Example SSO' }).click()
    // The form for a new account has such a button too.
    await page.getByLabel('Your name').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.goto('/settings/profile')
    await page.getByText('You sign in with Example SSO').waitFor()
    for (const name of ['Change password', 'Set up']) {
      expect(await page.getByRole('button', { name }).count(), name).toBe(0)
    }
    await screenshot(page, 'settings-profile-oidc')
    expect(await accessibilityProblems(page)).toEqual([])
    // All other requests went to the provider.
    expect(browser.problems.filter((problem) => !problem.includes(provider.issuer))).toEqual([])
  })

  test('asks for the second-factor code after the provider, then continues', async () => {
    const { id } = await createTestTenant(service)
    const member = await signedIn({ ...service, url: front.url }, id, 'member')
    const { body } = await member.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
    const code = { code: codeOf(body.totpURI) }
    expect((await member.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
    provider.person = { ...provider.person, sub: '3', email: member.email }
    const page = await browser.signedOut('/companies')
    await page.getByRole('button', { name: 'Example SSO' }).click()
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    await page.getByRole('button', { name: 'Use a backup code' }).click()
    await page.getByLabel('Backup code').fill(body.backupCodes[0])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/companies')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('leads back to the application that asks for access, after the provider and the code', async () => {
    const { id } = await createTestTenant(service)
    const member = await signedIn({ ...service, url: front.url }, id, 'member')
    const { body } = await member.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
    await member.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(body.totpURI) })
    provider.person = { ...provider.person, sub: '4', email: member.email }
    const { body: client } = await register(service, { client_name: 'Assistant', redirect_uris: [CALLBACK] })
    const { query } = authorizationRequest(service, client.client_id, { state: 'x'.repeat(2_000) })
    const page = await browser.signedOut(`/oauth/authorize${query}`)
    await page.getByRole('button', { name: 'Example SSO' }).click()
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
    await page.getByRole('button', { name: 'Use a backup code' }).click()
    await page.getByLabel('Backup code').fill(body.backupCodes[0])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: /Connect .?“Assistant”/ }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/oauth/authorize')
  })
})

/** A web server in front of the service, because its URL must be known before the service has a port. */
async function startFront() {
  let target = ''
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming
    const forwarded = request(target + url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadsTo: (url: string) => {
      target = url
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
