import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('companies', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser
  let companyId: string

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    for (let number = 0; number < 22; number++) {
      const company = {
        name: `Company ${number}`,
        domain: `c${number}.example`,
        properties: { numberofemployees: number },
      }
      const { body } = await tenant.call('POST', '/v1/companies', company)
      companyId = body.company.company_id
    }
    for (let number = 0; number < 23; number++) {
      const more = { company_id: companyId, ...(number === 0 ? { visitor_id: 'robin' } : {}) }
      const lastname = `Marsh${String(number).padStart(2, '0')}`
      await tenant.contact(`robin${number}@c21.example`, { firstname: 'Robin', lastname }, more)
    }
    const url = `https://${tenant.site}/docs`
    await tenant.track({ visitor_id: 'robin', events: [{ event: 'page_view', url, title: 'The docs' }] })
  })
  afterAll(() => browser?.close())

  test('are paged, searched and filtered', async () => {
    const page = await browser.signedIn(tenant, { path: '/companies' })
    await page.getByText('1–20 of 22').waitFor()
    expect(await checkPage(page, 'companies')).toEqual([])
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('21–22 of 22').waitFor()
    await page.getByLabel('Search name or domain').fill('c7.example')
    await page.getByText('1–1 of 1').waitFor()
    const large = { match: 'all', conditions: [{ property: 'numberofemployees', operator: 'gte', value: 20 }] }
    await openWithin(page, `/companies?filter=${encodeURIComponent(JSON.stringify(large))}`)
    await page.getByText('1–2 of 2').waitFor()
    await page.getByRole('link', { name: 'Company 21' }).click()
    await page.getByRole('heading', { name: 'Company 21', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test("show their contacts in pages, and the contacts' activity", async () => {
    const page = await browser.signedIn(tenant, { path: `/companies/${companyId}` })
    await page.getByText('1–20 of 23').waitFor()
    const glance = page.getByRole('region', { name: 'At a glance' })
    await glance.getByRole('link', { name: 'Robin Marsh00' }).waitFor()
    expect(await glance.textContent()).toMatch(/Visits11 page view.*The docs ×1.*People23.*Robin Marsh00 · 1 visit/)
    expect(await checkPage(page, 'company')).toEqual([])
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'Robin Marsh22' }).waitFor()
    await page.getByRole('tab', { name: 'Activity' }).click()
    await page.getByRole('button', { name: 'Direct visit · 1 page' }).click()
    await page.getByText('Viewed The docs').waitFor()
    expect(await checkPage(page, 'company-activity')).toEqual([])
    await page.getByRole('link', { name: 'Robin Marsh00' }).last().click()
    await page.getByRole('heading', { name: 'Robin Marsh00', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Company 21' }).click()
    await page.getByRole('heading', { name: 'Company 21', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('gain and lose a contact by hand', async () => {
    const { body } = await tenant.call('POST', '/v1/companies', { name: 'Empty', domain: 'empty.example' })
    const page = await browser.signedIn(tenant, { role: 'member', path: `/companies/${body.company.company_id}` })
    await page.getByRole('heading', { name: 'No contacts in this company' }).waitFor()
    await page.getByRole('button', { name: 'Add a contact' }).click()
    await page.getByRole('textbox', { name: 'Find contacts' }).fill('robin22')
    const found = page.getByRole('list', { name: 'Contacts found' }).getByRole('button')
    expect(await found.textContent()).toContain('of another company')
    expect(await checkPage(page, 'company-add-contact')).toEqual([])
    await found.click()
    await page.getByRole('link', { name: 'Robin Marsh22' }).waitFor()
    await page.getByRole('button', { name: 'Remove Robin Marsh22' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).last().click()
    await page.getByRole('heading', { name: 'No contacts in this company' }).waitFor()
    const [contact] = (await tenant.call('GET', '/v1/contacts?search=robin22')).body.contacts
    expect(contact.company_id).toBeNull()
    await tenant.call('PUT', `/v1/contacts/${contact.contact_id}`, { company_id: companyId })
    await tenant.call('DELETE', `/v1/companies/${body.company.company_id}`)
    expect(browser.problems).toEqual([])
  })

  test('are created, changed and deleted by people with permission', async () => {
    const page = await browser.signedIn(tenant, { role: 'member', path: '/companies' })
    await page.getByRole('button', { name: 'New company' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Engines')
    await page.getByRole('textbox', { name: 'Domain' }).fill('c1.example')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('textbox', { name: 'Domain' }).fill('engines.example')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Engines', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Change Domain: engines.example' }).click()
    await page.getByRole('textbox', { name: 'Domain' }).fill('c2.example')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByRole('textbox', { name: 'Domain' }).press('Escape')
    await page.getByRole('button', { name: 'Add Industry' }).click()
    await page.getByRole('textbox', { name: 'Industry' }).fill('Comput')
    // Unsaved input moves with its part when the window becomes narrow.
    await page.setViewportSize({ width: 700, height: 1000 })
    await page.getByRole('tabpanel', { name: 'Details' }).getByRole('textbox', { name: 'Industry' }).waitFor()
    await page.keyboard.type('ing')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Change Industry: Computing' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the company' }).click()
    await page.waitForURL('**/companies')
    await page.getByText('of 22').waitFor()
    expect(browser.problems).toEqual([])

    const viewer = await browser.signedIn(tenant, { role: 'viewer', path: `/companies/${companyId}` })
    await viewer.getByText('1–20 of 23').waitFor()
    expect(await viewer.getByRole('button', { name: /^(Change|Delete|Add)/ }).count()).toBe(0)
  })

  test('have an empty state and an error state', async () => {
    const empty = await createTestTenant(service)
    const page = await browser.signedIn(empty, { path: '/companies' })
    await page.getByRole('heading', { name: 'No companies yet' }).waitFor()
    expect(await checkPage(page, 'companies-empty')).toEqual([])
    await page.route('**/v1/companies*', (route) =>
      route.fulfill({
        status: 400,
        json: { status: 'error', error: { code: 'bad', message: 'Not today.', request_id: '7' } },
      }),
    )
    await openWithin(page, '/companies?search=x')
    await page.getByText('Not today.').waitFor()
    expect(await checkPage(page, 'companies-error')).toEqual([])
    await page.unroute('**/v1/companies*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'No company matches' }).waitFor()
    expect(browser.problems).toEqual([])
  })
})
