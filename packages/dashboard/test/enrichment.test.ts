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
