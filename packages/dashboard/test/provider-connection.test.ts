import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type ConnectedSystem, startConnectedSystem } from '../../server/test/connected-system.ts'
import { TestConnection } from '../../server/test/connections.ts'
import { type OAuthProvider, startOAuthProvider } from '../../server/test/oauth-provider.ts'
import { freePort } from '../../server/test/ports.ts'
import { makeCertificate } from '../../server/test/receiver.ts'
import { contact, SalesforceOrganization } from '../../server/test/salesforce.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('a system that is connected by signing in', () => {
  let organization: SalesforceOrganization
  let system: ConnectedSystem
  let provider: OAuthProvider
  let service: TestService
  let browser: TestBrowser
  let tenant: TestTenant

  beforeAll(async () => {
    const port = String(await freePort())
    const publicUrl = `http://127.0.0.1:${port}`
    const certificate = makeCertificate()
    system = await startConnectedSystem(certificate, (request) => organization.respond(request))
    provider = await startOAuthProvider({
      issuer: 'https://login.salesforce.com',
      usesPkce: true,
      authentication: 'form',
      redirectUri: `${publicUrl}/authorized`,
    })
    provider.more = { instance_url: 'https://engines.my.salesforce.com' }
    provider.onIssued = (_, token) => {
      organization.accessToken = token
    }
    service = await startTestService(
      { PORT: port, CDS_PUBLIC_URL: publicUrl },
      {
        outbound: { allowPrivate: true, ca: certificate.certificate },
        connectorUrls: { salesforce: system.url },
        providerUrls: { salesforce: provider.url },
      },
    )
    browser = await openBrowser(service)
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
    organization = new SalesforceOrganization()
    system.requests = []
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await provider?.close()
    await system?.close()
  })

  /** Problems of our pages, without the way to the provider, which is another host. */
  const problems = () => browser.problems.filter((problem) => !problem.includes(provider.url))

  test('a person stores the OAuth client, signs in from a date, changes a setting, has contacts written, and signs in again', async () => {
    organization.records.Contact?.push(contact(1, { SystemModstamp: new Date().toISOString() }))
    const page = await browser.signedIn(tenant, { path: '/connections/new/salesforce' })
    await page.getByLabel('Domain').fill('engines.my.salesforce.com')
    await page.getByLabel('First read').selectOption('since')
    await page.getByLabel('Since').fill('2026-01-01')
    expect(await checkPage(page, 'connection-sign-in')).toEqual([])
    await page.getByRole('button', { name: 'Sign in at Salesforce' }).click()
    const dialog = page.getByRole('dialog', { name: 'OAuth client for Salesforce' })
    const guide = dialog.getByRole('link', { name: 'How to register it' })
    expect(await guide.getAttribute('href')).toBe('/docs/connectors-salesforce#sign-in')
    await dialog.getByLabel('Client ID').fill(provider.client.id)
    await dialog.getByRole('textbox', { name: 'Client secret' }).fill(provider.client.secret)
    await dialog.getByRole('button', { name: 'Save and sign in' }).click()

    await page.waitForURL(/\/connections\/[0-9a-f-]{36}$/)
    await page.getByRole('heading', { name: 'Salesforce', level: 1, exact: true }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const connection = new TestConnection(tenant, id)
    expect((await connection.pulled()).contacts).toEqual({ created: 1 })
    const instance_url = 'https://engines.my.salesforce.com'
    expect((await connection.read()).settings).toEqual({ domain: 'engines.my.salesforce.com', instance_url })
    const queries = system.requests.map(({ query }) => query.get('q') ?? '')
    expect(queries.find((soql) => soql.includes('FROM Contact'))).toContain(
      'SystemModstamp >= 2026-01-01T00:00:00.000Z',
    )
    await page.getByText('Analytical Engines', { exact: false }).first().waitFor()

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Change credentials or settings' }).click()
    const settings = page.getByRole('dialog', { name: 'Credentials and settings of Salesforce' })
    await settings.getByLabel('Domain').fill('login.salesforce.com')
    await settings.getByRole('button', { name: 'Save changes' }).click()
    await settings.waitFor({ state: 'detached' })
    expect((await connection.pulled()).contacts).toEqual({ unchanged: 1 })
    expect((await connection.read()).settings).toEqual({ domain: 'login.salesforce.com', instance_url })

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Write to Salesforce' }).click()
    const writing = page.getByRole('dialog', { name: 'Write to Salesforce' })
    await writing.getByText('Enter the API name of a field of contacts').waitFor()
    await writing.getByLabel('Property 1', { exact: true }).selectOption('lastname')
    const field = writing.getByLabel('Field 1 in Salesforce')
    expect(await field.inputValue()).toBe('')
    await field.fill('Surname')
    await writing.getByRole('switch', { name: 'Create contacts that Salesforce does not have' }).click()
    expect(await checkPage(page, 'connection-write-back-salesforce')).toEqual([])
    await writing.getByRole('button', { name: 'Save changes' }).click()
    await writing.getByText('is not a field of contacts in Salesforce that can be written').waitFor()
    await field.fill('LastName')
    await writing.getByRole('button', { name: 'Save changes' }).click()
    await writing.waitFor({ state: 'detached' })
    await page.locator('dd').getByText('Created', { exact: true }).waitFor()
    const properties = [{ property: 'lastname', target: 'LastName', conflict: 'newest' }]
    expect((await connection.read()).write_back).toMatchObject({ properties, create_missing: true })

    provider.revokeAll()
    organization.accessToken = 'of nobody'
    await page.getByRole('button', { name: 'Pull now' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('The sign-in is no longer valid').waitFor()
    await alert.getByRole('button', { name: 'Sign in at Salesforce' }).click()
    await page.waitForURL(`**/connections/${id}`)
    await page.locator('dd').getByText('waiting').waitFor()
    expect(await alert.count()).toBe(0)
    await connection.pulled()
    expect(problems()).toEqual([])
  })
})
