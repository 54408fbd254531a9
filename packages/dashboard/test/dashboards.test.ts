import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkWholePage, isLoaded, openBrowser, openWithin, reopen, screenshot, type TestBrowser } from './browser.ts'

const DAY_MS = 86_400_000

let service: TestService
let browser: TestBrowser

/** A tenant whose people see pages and sign up on several days. */
async function withEvents(): Promise<TestTenant> {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v-0' })
  for (let ago = 0; ago < 16; ago++) {
    for (let visitor = 0; visitor < 2 + ((ago * 5) % 6); visitor++) {
      const at = (second: number) => new Date(Date.now() - ago * DAY_MS - 60_000 + second * 1_000).toISOString()
      const page = (path: string, second: number) => ({
        event: 'page_view',
        url: `https://${tenant.site}${path}`,
        timestamp: at(second),
      })
      const events = [page('/', 0), page(visitor % 2 === 0 ? '/pricing' : '/docs', 1)]
      const signUp = visitor % 3 === 0 ? [{ event: 'sign_up', timestamp: at(2) }] : []
      const session_id = `s-${ago}-${visitor}`
      await tenant.track({ visitor_id: `v-${(ago + visitor) % 11}`, session_id, events: [...events, ...signUp] })
    }
  }
  return tenant
}

async function reportOf(tenant: TestTenant, name: string, question: object, kind = 'trend'): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/reports', { name, kind, question })
  expect([status, body.error]).toEqual([201, undefined])
  return body.report.report_id
}

async function dashboardOf(tenant: TestTenant, body: object): Promise<string> {
  const { status, body: made } = await tenant.call('POST', '/v1/dashboards', { name: 'Board', ...body })
  expect([status, made.error]).toEqual([201, undefined])
  return made.dashboard.dashboard_id
}

const tilesOf = async (tenant: TestTenant, id: string) =>
  (await tenant.call('GET', `/v1/dashboards/${id}`)).body.dashboard.tiles
const grid = (page: Page) => page.getByRole('list', { name: 'Tiles', exact: true })
const idIn = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) ?? ''

describe.skipIf(!HAS_BROWSER)('dashboards', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
  })
  afterAll(() => browser?.close())

  test('the ready-made one shows all kinds of answers, at a desk and on a phone', async () => {
    const tenant = await withEvents()
    const page = await browser.signedIn(tenant, { path: '/insights/dashboards' })
    await page.getByText('has these reports about your events', { exact: false }).waitFor()
    await screenshot(page, 'dashboards-empty')
    await page.getByRole('button', { name: 'Create “Growth”' }).click()
    await page.getByRole('heading', { name: 'Growth', level: 1 }).waitFor()
    await grid(page).getByRole('slider', { name: 'Figures by day' }).waitFor()
    await grid(page).getByRole('region', { name: 'Cohorts' }).waitFor()
    await grid(page).getByRole('group', { name: 'Flow of visits' }).waitFor()
    await grid(page).getByText('(100%)').first().waitFor()
    await isLoaded(page)
    expect(await checkWholePage(page, 'dashboard-growth')).toEqual([])
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 1000 })
      await screenshot(page, `dashboard-growth-${width}`)
    }
    await page.setViewportSize({ width: 1600, height: 1000 })
    await page.getByRole('link', { name: 'Dashboards', exact: true }).click()
    await page.getByRole('row', { name: /^Growth 7/ }).waitFor()
    await page.getByRole('button', { name: 'More about Growth' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Weekly')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('button', { name: 'More about Weekly' }).click()
    await page.getByRole('menuitem', { name: 'Delete dashboard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete dashboard' }).click()
    await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor()
    expect((await tenant.call('GET', '/v1/reports')).body.reports).toHaveLength(4)
  })
  test('tiles are added, moved and resized by keyboard and pointer, and saved unless somebody else was faster', async () => {
    const tenant = await withEvents()
    const people = await reportOf(tenant, 'People', { series: [{ metric: 'unique_people' }] })
    await reportOf(tenant, 'Views', { series: [{ event: 'page_view' }] })
    const page = await browser.signedIn(tenant, { path: '/insights/dashboards' })
    await page.getByRole('button', { name: 'New dashboard' }).click()
    await page.getByLabel('Name').fill('Board')
    await page.getByRole('button', { name: 'Create dashboard' }).click()
    await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Add a tile' }).click()
    for (const name of ['People', 'Views']) {
      await page.getByRole('button', { name: 'Add a report' }).click()
      await page.getByRole('list', { name: 'Reports found' }).getByRole('button', { name }).click()
      await grid(page).getByRole('link', { name, exact: true }).waitFor()
    }
    await page.getByRole('button', { name: 'Add a text' }).click()
    await page.getByRole('textbox', { name: 'Text' }).fill('# This week')
    await page.getByRole('button', { name: 'Done' }).click()
    await grid(page).getByRole('heading', { name: 'This week' }).waitFor()
    await page.getByRole('button', { name: 'Change People' }).click()
    await page.getByRole('menuitem', { name: 'Number' }).click()
    await page.getByRole('status').getByText('People: 3 columns wide, 2 rows high').waitFor({ state: 'attached' })
    // Up past the reports beside each other.
    const text = page.getByRole('button', { name: 'Move # This week' })
    await text.focus()
    await page.keyboard.press('ArrowUp')
    await page.getByRole('status').getByText('# This week: column 1, row').waitFor({ state: 'attached' })
    await page.keyboard.press('ArrowUp')
    await page.getByRole('status').getByText('# This week: column 1, row 1').waitFor({ state: 'attached' })
    expect(await text.evaluate((element) => element === document.activeElement)).toBe(true)
    const resize = page.getByRole('button', { name: 'Resize Views' })
    const box = await resize.boundingBox()
    if (!box) throw new Error('The handle is not drawn.')
    await page.mouse.move(box.x + 8, box.y + 8)
    await page.mouse.down()
    await page.mouse.move(box.x + 8, box.y + 8 + 2 * 80, { steps: 4 })
    await page.mouse.up()
    await page.getByRole('status').getByText('Views: 6 columns wide, 7 rows high').waitFor({ state: 'attached' })
    expect(await checkWholePage(page, 'dashboard-edit')).toEqual([])
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    const id = idIn(page)
    const stored = await tilesOf(tenant, id)
    expect(stored).toMatchObject([
      { report_id: people, view: 'number', x: 0, y: 1, width: 3, height: 2 },
      { x: 6, y: 1, width: 6, height: 7 },
      { text: '# This week', x: 0, y: 0, width: 12, height: 1 },
    ])
    // A change of somebody else is not overwritten.
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('button', { name: 'Change Views' }).click()
    await page.getByRole('menuitem', { name: 'Remove tile' }).click()
    await tenant.call('PATCH', `/v1/dashboards/${id}`, { name: 'Other' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').waitFor()
    expect(await tilesOf(tenant, id)).toEqual(stored)
    await page.getByRole('button', { name: 'Discard' }).click()
    await grid(page).getByRole('link', { name: 'Views', exact: true }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('one range and one filter are for all tiles, tried first and then kept, and numbers open their people', async () => {
    const own = await createTestTenant(service)
    for (const [name, path, ago] of [
      ['Ada', '/pricing', 1],
      ['Grace', '/docs', 1],
      ['Alan', '/pricing', 20],
    ] as const) {
      await own.contact(`${name.toLowerCase()}@example.com`, { firstname: name }, { visitor_id: name })
      const timestamp = new Date(Date.now() - ago * DAY_MS).toISOString()
      await own.track({
        visitor_id: name,
        events: [{ event: 'page_view', url: `https://${own.site}${path}`, timestamp }],
      })
    }
    const report_id = await reportOf(own, 'People', { series: [{ event: 'page_view', metric: 'unique_people' }] })
    const id = await dashboardOf(own, {
      tiles: [
        { report_id, view: 'number', x: 0, y: 0, width: 3, height: 2 },
        { report_id, view: 'table', x: 3, y: 0, width: 6, height: 5 },
      ],
    })
    const page = await browser.signedIn(own, { path: `/insights/dashboards/${id}` })
    const number = (count: number) =>
      grid(page).getByRole('button', { name: `${count}. Show the people behind “Viewed a page: people”` })
    await number(3).waitFor()
    await page.getByRole('button', { name: 'Date range: Ranges of the reports' }).click()
    await page.getByRole('menuitem', { name: 'Last 7 days' }).click()
    await number(2).waitFor()
    await page.getByText('Only you see this range and filter.').waitFor()
    const where = { match: 'all', conditions: [{ property: 'url_path', operator: 'equals', value: '/pricing' }] }
    await openWithin(
      page,
      `${new URL(page.url()).pathname}${new URL(page.url()).search}&where=${encodeURIComponent(JSON.stringify(where))}`,
    )
    await number(1).click()
    const panel = page.getByRole('dialog', { name: 'Viewed a page: people' })
    await panel.getByRole('link', { name: 'Ada' }).waitFor()
    expect(await panel.getByRole('list', { name: 'Contacts' }).getByRole('listitem').count()).toBe(1)
    await page.keyboard.press('Escape')
    expect((await own.call('GET', `/v1/dashboards/${id}`)).body.dashboard).toMatchObject({ range: null, where: [] })
    await page.getByRole('button', { name: 'Save for everyone' }).click()
    await page.getByText('Only you see this range and filter.').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    await number(1).waitFor()
    // The question is by day, and 10 years have too many of them.
    await openWithin(
      page,
      `/insights/dashboards/${id}?range=${encodeURIComponent('{"last":{"value":120,"unit":"month"}}')}`,
    )
    await grid(page).getByText('By week, because the range is too long for days.').waitFor()
    await openWithin(page, `/insights/dashboards/${id}`)
    await number(1).waitFor()
    expect((await own.call('GET', `/v1/dashboards/${id}`)).body.dashboard).toMatchObject({
      range: { last: { value: 7, unit: 'day' } },
      where: where.conditions,
    })
    // Without the scope, nothing is offered that would be refused.
    const viewer = await browser.signedIn(own, { role: 'viewer', path: `/insights/dashboards/${id}` })
    await number(1).waitFor()
    await grid(viewer).getByText('1', { exact: true }).first().waitFor()
    expect(await viewer.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0)
    // Its figures by mail are for everyone who sees it, if the service can send mail.
    await viewer.getByRole('button', { name: 'More about Board' }).click()
    expect(await viewer.getByRole('menuitem').count()).toBe(1)
    await viewer.getByRole('menuitem', { name: 'Mail me each Monday' }).click()
    const mail = viewer.getByRole('dialog', { name: /^Mail of .*Board/ })
    await mail.getByRole('switch', { name: 'Mail me each Monday' }).click()
    await mail.getByRole('alert').getByText('This service cannot send mail.', { exact: false }).waitFor()
  })

  test('a question and a report are added to a dashboard, which the palette finds', async () => {
    const own = await createTestTenant(service)
    await own.track({ visitor_id: 'a', events: [{ event: 'sign_up' }] })
    const page = await browser.signedIn(own, { path: '/insights' })
    await page.getByRole('button', { name: 'Add to dashboard' }).click()
    await page.getByLabel('Name of the report').fill('Sign-ups')
    await page.getByLabel('Or the name of a new dashboard').fill('Launch week')
    await page.getByRole('button', { name: 'Create dashboard' }).click()
    await page.getByRole('heading', { name: 'Launch week', level: 1 }).waitFor()
    await grid(page).getByRole('link', { name: 'Sign-ups' }).waitFor()
    const id = idIn(page)
    await openWithin(page, '/insights/reports')
    await page.getByRole('button', { name: 'More about Sign-ups' }).click()
    await page.getByRole('menuitem', { name: 'Add to dashboard' }).click()
    await page.getByRole('list', { name: 'Dashboards found' }).getByRole('button', { name: 'Launch week' }).click()
    await grid(page).getByRole('link', { name: 'Sign-ups' }).nth(1).waitFor()
    expect(await tilesOf(own, id)).toMatchObject([
      { x: 0, y: 0 },
      { x: 6, y: 0 },
    ])
    await openWithin(page, '/settings/profile')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).getByRole('combobox').fill('launch')
    await page.getByRole('option', { name: 'Launch week' }).click()
    await page.getByRole('heading', { name: 'Launch week', level: 1 }).waitFor()
    await reopen(page)
    await grid(page).getByRole('link', { name: 'Sign-ups' }).first().waitFor()
  })
})
