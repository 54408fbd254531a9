import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

const DAY_MS = 86_400_000
/** Sign-ups a day, from 9 days ago until yesterday. */
const SIGN_UPS = [6, 7, 2, 3, 8, 9, 1, 7, 8]

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('alerts', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
    for (const [index, count] of SIGN_UPS.entries()) {
      const timestamp = new Date(noon - (SIGN_UPS.length - index) * DAY_MS).toISOString()
      const events = Array.from({ length: count }, () => ({ event: 'signed_up', timestamp }))
      await tenant.track({ visitor_id: 'v', events })
    }
    const question = { series: [{ event: 'signed_up' }], interval: 'day', last: { value: 30, unit: 'day' } }
    await tenant.call('POST', '/v1/reports', { name: 'Sign-ups by day', kind: 'trend', question })
    const steps = [{ event: 'page_view' }, { event: 'signed_up' }]
    const funnel = { steps, window: { value: 1, unit: 'day' }, last: { value: 4, unit: 'week' } }
    await tenant.call('POST', '/v1/reports', { name: 'From visit to sign-up', kind: 'funnel', question: funnel })
  })
  afterAll(() => browser?.close())

  test('an alert is created from a report with a preview of its past, changed, turned off and deleted', async () => {
    const page = await browser.signedIn(tenant, { path: '/insights/reports' })
    await page.getByRole('button', { name: 'More about Sign-ups by day' }).click()
    await page.getByRole('menuitem', { name: 'Create an alert' }).click()
    await page.getByRole('heading', { name: 'Create an alert' }).waitFor()
    await page.getByText('Enter a limit to see when the alert would have fired.').waitFor()
    const create = page.getByRole('button', { name: 'Create alert' })
    expect(await create.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: 'Limit' }).fill('5')
    // It begins below, and falls below twice more.
    await page.getByText(/^It would have fired 3 times: /).waitFor()
    const chart = page.getByRole('slider', { name: /the limit/ })
    await chart.focus()
    expect(await chart.getAttribute('aria-valuetext')).toContain('Number: 8')
    for (let day = 0; day < 2; day++) await page.keyboard.press('ArrowLeft')
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toMatch(/Number: 1; Fires/)
    await page.getByRole('combobox', { name: 'Fires when the number' }).selectOption('goes above')
    await page.getByRole('switch', { name: 'Do not wait until the interval is over' }).waitFor()
    await page.getByText(/^It would have fired 3 times: /).waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Many sign-ups')
    expect(await checkPage(page, 'alert-new')).toEqual([])
    await create.click()

    await page.getByRole('heading', { name: 'Many sign-ups' }).waitFor()
    await page.getByText('Fired', { exact: true }).waitFor()
    await page.getByText(/^Last fired/).waitFor()
    expect(await checkPage(page, 'alert')).toEqual([])
    await page.getByRole('textbox', { name: 'Limit' }).fill('20')
    await page.getByText('It would not have fired.').waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Quiet', { exact: true }).waitFor()

    await page.getByRole('link', { name: 'Alerts', exact: true }).click()
    const row = page.getByRole('region', { name: 'Alerts' }).getByRole('row', { name: /Many sign-ups/ })
    await row.getByText('Above 20').waitFor()
    expect(await checkPage(page, 'alerts')).toEqual([])
    await page.getByRole('button', { name: 'More about Many sign-ups' }).click()
    await page.getByRole('menuitem', { name: 'Turn off' }).click()
    await row.getByText('Off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More about Many sign-ups' }).click()
    await page.getByRole('menuitem', { name: 'Delete alert' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete alert' }).click()
    await page.getByRole('heading', { name: 'No alerts yet' }).waitFor()
  })

  test('a share has its limit in percent, on a phone too; viewers only look', async () => {
    const page = await browser.signedIn(tenant, { path: '/insights/alerts/new', width: 390 })
    await page.getByRole('combobox', { name: 'Report' }).selectOption('From visit to sign-up')
    await page.getByRole('combobox', { name: 'Step', exact: true }).selectOption({ value: '2' })
    await page.getByRole('textbox', { name: 'Limit' }).fill('7')
    await page.getByRole('textbox', { name: 'Name' }).fill('Few finish')
    await page.getByText('It would not have fired.').waitFor()
    expect(await checkPage(page, 'alert-new-phone')).toEqual([])
    await page.getByRole('button', { name: 'Create alert' }).click()
    await page.getByRole('heading', { name: 'Few finish' }).waitFor()
    const { body } = await tenant.call('GET', '/v1/alerts')
    expect(body.alerts).toMatchObject([
      { at: { step: 2, figure: 'from_first' }, condition: { operator: 'below', value: 0.07 } },
    ])
    const viewer = await browser.signedIn(tenant, { path: '/insights/alerts', role: 'viewer' })
    await viewer.getByText('Below 7%').waitFor()
    expect(await viewer.getByRole('link', { name: 'Create an alert' }).count()).toBe(0)
    await viewer.getByRole('link', { name: 'Few finish' }).click()
    await viewer.getByText('It would not have fired.').waitFor()
    expect(await viewer.getByRole('textbox', { name: 'Limit' }).isDisabled()).toBe(true)
    expect(await viewer.getByRole('button', { name: 'Save changes' }).count()).toBe(0)
    // The figures of a sample are estimates.
    const question = { series: [{ event: 'signed_up' }], sample: 0.5 }
    const made = await tenant.call('POST', '/v1/reports', { name: 'Half', kind: 'trend', question })
    const { report_id } = made.body.report
    const condition = { operator: 'above', value: 1_000 }
    await tenant.call('POST', '/v1/alerts', { name: 'Many of half', report_id, at: { series: 'A' }, condition })
    await openWithin(viewer, '/insights/alerts')
    const row = viewer.getByRole('row', { name: /Many of half/ })
    await row.getByText('Estimated from 50% of the people').waitFor()
    await row.getByRole('link', { name: 'Many of half' }).click()
    await viewer.getByText('Estimated from 50% of the people').waitFor()
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
