import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, checkWholePage, openBrowser, type TestBrowser } from './browser.ts'

const DAY_MS = 86_400_000
const RANGE = { last: { value: 7, unit: 'day' } }
const TREND = {
  ...RANGE,
  series: [
    { event: 'page_view', metric: 'unique_people' },
    { event: 'signup', where: [{ property: 'url_path', operator: 'equals', value: '/secret-page' }] },
  ],
  breakdown: ['browser'],
}
const REPORTS = [
  ['trend', 'Visitors by browser', TREND],
  [
    'funnel',
    'Sign-up',
    { ...RANGE, steps: [{ event: 'page_view' }, { event: 'signup' }], window: { value: 1, unit: 'day' } },
  ],
  ['retention', 'Who comes back', { ...RANGE, start: 'first_seen', return: 'any', interval: 'day', intervals: 3 }],
  ['paths', 'Ways', { ...RANGE, kind: 'pages' }],
] as const

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
const ids: Record<string, string> = {}

describe.skipIf(!HAS_BROWSER)('sharing', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    for (let ago = 0; ago < 5; ago++) {
      for (let visitor = 0; visitor < 6 - ago; visitor++) {
        const timestamp = new Date(Date.now() - ago * DAY_MS - 1_000).toISOString()
        const at = (path: string) => ({ url: `https://${tenant.site}${path}`, timestamp })
        const events = [
          { event: 'page_view', ...at('/') },
          { event: 'page_view', ...at('/pricing') },
          ...(visitor % 2 ? [] : [{ event: 'signup', ...at('/secret-page') }]),
        ]
        await tenant.track({ visitor_id: `v-${visitor}`, session_id: `s-${ago}-${visitor}`, events })
      }
    }
    for (const [kind, name, question] of REPORTS) {
      const { body } = await tenant.call('POST', '/v1/reports', { kind, name, question })
      ids[kind] = body.report.report_id
    }
  })
  afterAll(() => browser?.close())

  const linkOf = async (path: string) => {
    const { body } = await tenant.call('POST', `${path}/share`)
    return new URL(body.share.url).pathname
  }
  /** A tab of somebody without an account. */
  const visit = async (path: string): Promise<Page> => {
    const page = await browser.tab()
    await page.goto(path)
    return page
  }

  test('a report is shared from the list, and whoever has the link sees it until that is stopped', async () => {
    const page = await browser.signedIn(tenant, { path: '/insights/reports' })
    await page.getByRole('button', { name: 'More about Visitors by browser' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    const dialog = page.getByRole('dialog', { name: /^Share .*Visitors by browser/ })
    await dialog.getByText('They see no people, no conditions').waitFor()
    expect(await checkPage(page, 'share-dialog')).toEqual([])
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const link = dialog.getByRole('textbox', { name: 'Link' })
    await link.waitFor()
    const url = await link.inputValue()
    expect(await checkPage(page, 'share-dialog-shared')).toEqual([])
    const path = new URL(url).pathname

    const guest = await visit(path)
    await guest.getByRole('heading', { level: 1, name: 'Visitors by browser' }).waitFor()
    expect(await guest.title()).toContain('Visitors by browser')
    await guest
      .getByRole('region', { name: 'Totals' })
      .getByRole('row', { name: /people, Chrome 6$/ })
      .waitFor()
    await guest.getByRole('row', { name: /^(Show )?Signup \(conditions\), Chrome/ }).waitFor()
    // Nothing opens people, and nothing asks who is signed in.
    expect(await guest.getByRole('button', { name: /Show the people/ }).count()).toBe(0)
    expect(await guest.content()).not.toContain('secret-page')
    expect(new URL(guest.url()).pathname).toBe(path)

    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('img', { name: 'Shared by link' }).waitFor()
    await page.getByRole('button', { name: 'More about Visitors by browser' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await expect.poll(() => link.inputValue()).toBe(url)
    await dialog.getByRole('button', { name: 'Stop sharing' }).click()
    await page.getByRole('dialog', { name: 'Stop sharing?' }).getByRole('button', { name: 'Stop sharing' }).click()
    await page.getByRole('img', { name: 'Shared by link' }).waitFor({ state: 'detached' })
    await guest.reload()
    await guest.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
    expect(await checkPage(guest, 'shared-gone')).toEqual([])
  })

  test.each([
    ['trend', 'Totals'],
    ['retention', 'Cohorts'],
    ['paths', 'Paths of visits'],
    ['funnel', null],
  ])('a shared %s is shown at a desk and on a phone', async (kind, region) => {
    const guest = await visit(await linkOf(`/v1/reports/${ids[kind]}`))
    if (region === null) await guest.getByText('100%').first().waitFor()
    else await guest.getByRole('region', { name: region }).waitFor()
    expect(await checkWholePage(guest, `shared-${kind}`)).toEqual([])
  })

  test('an estimate says so, alone and in a tile', async () => {
    const question = { series: [{ event: 'page_view' }], sample: 0.99 }
    const made = await tenant.call('POST', '/v1/reports', { kind: 'trend', name: 'Estimate', question })
    const { report_id } = made.body.report
    const tiles = [{ report_id, x: 0, y: 0, width: 6, height: 4 }]
    const board = await tenant.call('POST', '/v1/dashboards', { name: 'Estimates', tiles })
    for (const path of [`/v1/reports/${report_id}`, `/v1/dashboards/${board.body.dashboard.dashboard_id}`]) {
      await (await visit(await linkOf(path))).getByText('Estimated from 99% of the people').waitFor()
    }
  })

  test('a shared dashboard has its tiles, whose numbers open nobody', async () => {
    const tiles = [
      { report_id: ids.trend, view: 'number', x: 0, y: 0, width: 4, height: 3 },
      { text: 'Figures of **our shop**', x: 4, y: 0, width: 8, height: 3 },
      ...REPORTS.map(([kind], index) => ({
        report_id: ids[kind],
        x: 6 * (index % 2),
        y: 3 + 6 * (index >> 1),
        width: 6,
        height: 6,
      })),
    ]
    const { body } = await tenant.call('POST', '/v1/dashboards', { name: 'Growth', tiles })
    const page = await browser.signedIn(tenant, { path: `/insights/dashboards/${body.dashboard.dashboard_id}` })
    await page.getByRole('button', { name: 'More about Growth' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = page.getByRole('textbox', { name: 'Link' })
    await link.waitFor()
    const guest = await visit(new URL(await link.inputValue()).pathname)
    await guest.getByText('our shop').waitFor()
    for (const [, name] of REPORTS) await guest.getByRole('heading', { level: 2, name }).first().waitFor()
    expect(await guest.getByRole('button', { name: /Show the people/ }).count()).toBe(0)
    expect(await checkWholePage(guest, 'shared-dashboard')).toEqual([])
  })

  test('a viewer cannot share, and a member is told what cannot be shared', async () => {
    const viewer = await browser.signedIn(tenant, { path: '/insights/reports', role: 'viewer' })
    await viewer.getByRole('link', { name: 'Sign-up' }).waitFor()
    expect(await viewer.getByRole('button', { name: /^More about/ }).count()).toBe(0)
    const question = { ...RANGE, series: [{ event: 'signup' }], breakdown: ['data.email'] }
    await tenant.call('POST', '/v1/reports', { kind: 'trend', name: 'By email', question })
    const page = await browser.signedIn(tenant, { path: '/insights/reports' })
    await page.getByRole('button', { name: 'More about By email' }).click()
    await page.getByRole('menuitem', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('alert').getByText('breaks down by data.email, whose values may be about people').waitFor()
  })

  test('while the figures load it says so, and what failed can be tried again', async () => {
    const path = await linkOf(`/v1/reports/${ids.funnel}`)
    const page = await browser.tab()
    let held: (() => void) | undefined
    await page.route('**/v1/public/shared/*', async (route) => {
      await new Promise<void>((resume) => {
        held = resume
      })
      await route.fulfill({ status: 400, json: { error: { code: 'broken', message: 'It broke.' } } })
    })
    await page.goto(path)
    await page.getByRole('status', { name: 'Loading the figures' }).waitFor()
    await expect.poll(() => held !== undefined).toBe(true)
    held?.()
    await page.getByRole('alert').getByText('It broke.').waitFor()
    await page.unroute('**/v1/public/shared/*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('100%').first().waitFor()
  })

  test('the pages have no problems', () => {
    expect(browser.problems).toEqual([])
  })
})
