import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('enrichment in the dashboard', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service, { enriches: true })
  })
  afterAll(() => browser?.close())

  const settings = async () => (await tenant.call('GET', '/v1/enrichment')).body.enrichment

  test('an admin switches it off and chooses a country; a contact shows what was filled in, and can be enriched now', async () => {
    const owner = await browser.signedIn(tenant, { path: '/settings/enrichment' })
    const phones = owner.getByRole('switch', { name: 'Phone numbers in standard form' })
    await phones.waitFor()
    expect(await phones.isChecked()).toBe(true)
    await phones.click()
    await expect.poll(async () => (await settings()).phone).toBe(false)
    const country = owner.getByRole('combobox', { name: 'Country' }).or(owner.getByRole('textbox', { name: 'Country' }))
    await country.fill('Austr')
    await owner.getByRole('option', { name: 'Austria' }).click()
    await owner.getByText('Country saved.').waitFor()
    expect(await settings()).toMatchObject({ phone: false, country: 'AT' })
    expect(await checkPage(owner, 'settings-enrichment')).toEqual([])

    const ada = await tenant.contact('ada@engines-and-co.com', { phone: '01 588580' })
    await openWithin(owner, `/contacts/${ada}?tab=profile`)
    const card = owner.getByRole('region', { name: 'Filled in by enrichment' })
    await card.getByText('Company', { exact: true }).waitFor()
    await card.getByText('off', { exact: true }).waitFor()
    await tenant.call('PATCH', '/v1/enrichment', { phone: true })
    await card.getByRole('button', { name: 'Enrich now' }).click()
    await card.getByText(/Phone country/i).waitFor()
    await owner.getByRole('columnheader', { name: 'Enrichment' }).waitFor()
    expect(await checkPage(owner, 'contact-enriched')).toEqual([])
  })

  test('an admin adds providers and orders them', async () => {
    const own = await createTestTenant(service)
    const owner = await browser.signedIn(own, { path: '/settings/enrichment' })
    const section = owner.getByRole('region', { name: 'Providers', exact: true })
    await section.getByText('No providers yet').waitFor()
    await section.getByRole('button', { name: 'Add a provider' }).click()
    const dialog = owner.getByRole('dialog')
    await dialog.getByLabel('API key').fill('key-of-the-account')
    await dialog.getByLabel('Most requests in a month').fill('1000')
    expect(await checkPage(owner, 'enrichment-provider-new')).toEqual([])
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await section.getByText('0 of 1,000').waitFor()

    await section.getByRole('button', { name: 'Add a provider' }).click()
    await dialog.getByLabel('Service').selectOption('http')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Directory')
    await dialog.getByRole('textbox', { name: 'URL' }).fill('https://directory.example.com/?e={{contact.email}}')
    await dialog.getByLabel('Property 1', { exact: true }).fill('jobtitle')
    await dialog.getByLabel('Path 1', { exact: true }).fill('person.title')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await section.getByRole('button', { name: 'Ask Directory earlier' }).click()
    const names = async () => {
      const { providers } = (await own.call('GET', '/v1/enrichment/providers')).body
      return providers.map(({ name }: { name: string }) => name)
    }
    await expect.poll(names).toEqual(['Directory', 'Hunter'])
    const { providers } = (await own.call('GET', '/v1/enrichment/providers')).body
    expect(providers[0].mapping).toEqual({ contact: { properties: { jobtitle: { path: 'person.title' } } } })
  })

  test('an admin tests and edits a provider; a contact shows what became of asking it', async () => {
    const own = await createTestTenant(service)
    const added = { name: 'Hunter', kind: 'hunter', secrets: { api_key: 'key-of-the-account' } }
    expect((await own.call('POST', '/v1/enrichment/providers', added)).status).toBe(201)
    const owner = await browser.signedIn(own, { path: '/settings/enrichment' })
    const section = owner.getByRole('region', { name: 'Providers', exact: true })
    const dialog = owner.getByRole('dialog')
    await section.getByRole('button', { name: 'Actions for Hunter' }).click()
    await owner.getByRole('menuitem', { name: 'Test' }).click()
    await dialog.getByLabel('Email address').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Ask' }).click()
    await dialog.getByText(/The request failed: Port 9 is not allowed/).waitFor()
    expect(await checkPage(owner, 'enrichment-provider-test')).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await section.getByText(/Last error/).waitFor()
    expect(await checkPage(owner, 'settings-enrichment-providers')).toEqual([])

    await section.getByRole('button', { name: 'Actions for Hunter' }).click()
    await owner.getByRole('menuitem', { name: 'Edit' }).click()
    await dialog.getByLabel('Most requests in a month').fill('2000')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await section.getByText('1 of 2,000').waitFor()

    const ada = await own.contact('ada@example.com')
    await openWithin(owner, `/contacts/${ada}?tab=profile`)
    const card = owner.getByRole('region', { name: 'Filled in by enrichment' })
    await card.getByRole('button', { name: 'Enrich now' }).click()
    await card.getByText(/Port 9 is not allowed/).waitFor()
    expect(await checkPage(owner, 'contact-asked-providers')).toEqual([])
  })

  test('contacts that exist are enriched when an enricher is switched on, or from the list, and that is undone', async () => {
    const owner = await browser.signedIn(tenant, { path: '/settings/enrichment' })
    await tenant.call('PATCH', '/v1/enrichment', { phone: false })
    const bo = await tenant.contact('bo@example.com', { phone: '01 588580' })
    const e164 = async () => (await tenant.call('GET', `/v1/contacts/${bo}`)).body.contact.properties.phone_e164
    await owner.reload()
    await owner.getByText('No enrichments yet').waitFor()
    await owner.getByRole('switch', { name: 'Phone numbers in standard form' }).click()
    await owner.getByText('Enrich the contacts you already have?').waitFor()
    await owner.getByRole('button', { name: 'Enrich contacts' }).click()
    await owner.getByText('Completed').waitFor()
    expect(await owner.getByText('Enrich the contacts you already have?').count()).toBe(0)
    expect(await e164()).toBe('+431588580')
    await tenant.call('PUT', `/v1/contacts/${bo}`, { properties: { phone_e164: 'by hand' } })
    expect(await checkPage(owner, 'settings-enrichment-runs')).toEqual([])
    await owner.getByRole('button', { name: 'Undo' }).click()
    await owner.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await owner.getByText('Undone', { exact: true }).waitFor()
    await owner.getByRole('button', { name: 'Show the contact that failed or was kept' }).click()
    await owner.getByRole('dialog').getByText('phone_e164').waitFor()
    expect(await e164()).toBe('by hand')

    await openWithin(owner, '/contacts?search=bo')
    await owner
      .getByRole('checkbox', { name: /^Select/ })
      .last()
      .click()
    await owner.getByRole('button', { name: 'Enrich', exact: true }).click()
    await owner.getByText(/^Enriching 1 contact\./).waitFor()
    const runs = async () => (await tenant.call('GET', '/v1/enrichment/runs')).body.runs
    await expect.poll(async () => (await runs())[0]).toMatchObject({ state: 'completed', total: 1 })
  })

  test('a member sees the settings and cannot change them', async () => {
    const member = await browser.signedIn(tenant, { role: 'member', path: '/settings/enrichment' })
    const phones = member.getByRole('switch', { name: 'Phone numbers in standard form' })
    await phones.waitFor()
    expect(await phones.isDisabled()).toBe(true)
  })
})
