import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

describe.skipIf(!HAS_BROWSER)('the home page', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(() => browser?.close())

  test('shows the first steps until the first event arrives, then the activity', async () => {
    const page = await browser.signedIn(tenant)
    await page.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    await page.getByText(`Pages on ${tenant.site} and its subdomains can send events`, { exact: false }).waitFor()
    expect(await page.getByText('<script async src=', { exact: false }).textContent()).toContain('/tracker.js')
    expect(await checkPage(page, 'home-first-steps')).toEqual([])
    await visit('first', '/welcome', daysAgo(0))
    // The figures and the feed that were read before are never shown.
    await page.getByRole('heading', { name: 'Events by day' }).waitFor()
    expect(await page.getByRole('region', { name: 'Figures' }).textContent()).toMatch(/Events1/)
    await page.getByRole('status').filter({ hasText: 'Viewed a page on' }).waitFor()
    await page
      .getByRole('list', { name: 'Who is here, by what they did last' })
      .getByText('Anonymous visitor')
      .waitFor()
    expect(await checkPage(page, 'home-first-event')).toEqual([])
    await page.getByRole('link', { name: 'See the visitor' }).click()
    await page.getByRole('heading', { name: 'Anonymous visitor' }).waitFor()
    await page.getByText('1 entry', { exact: true }).waitFor()
    expect(await checkPage(page, 'visitor')).toEqual([])
    // What the visitor does now appears as it happens, and who they are.
    await visit('first', '/next', daysAgo(0))
    await page.getByText('2 entries', { exact: true }).waitFor()
    await tenant.contact('welcome@example.com', { firstname: 'Ada' }, { visitor_id: 'first' })
    await visit('first', '/last', daysAgo(0))
    await page.getByRole('heading', { name: 'Ada' }).waitFor()
    await page.evaluate(() => history.pushState(null, '', '/visitors/nobody'))
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('localhost needs no proof while the service runs on this machine: three steps on one page', async () => {
    const fresh = await createTestTenant(service)
    for (const { domain_id } of (await fresh.call('GET', '/v1/domains')).body.domains) {
      await fresh.call('DELETE', `/v1/domains/${domain_id}`)
    }
    const page = await browser.signedIn(fresh)
    // Other files use localhost too, and only one tenant can have it.
    expect(await page.getByLabel('Domain').inputValue()).toBe('localhost')
    const name = `t${fresh.id}.localhost`
    await page.getByLabel('Domain').fill('https://not a host')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Domain').fill('unproven.example.com')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByText('unproven.example.com is added.', { exact: false }).waitFor()
    expect(await checkPage(page, 'home-first-domain')).toEqual([])
    await page.getByLabel('Domain').fill(`http://${name}:3000/index.html`)
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByText(`Pages on ${name} and its subdomains can send events`, { exact: false }).waitFor()
    const origin = `http://${name}:3000`
    const event = { event: 'page_view', url: `${origin}/`, title: 'Mine' }
    expect((await fresh.track({ visitor_id: 'me', events: [event] }, { origin })).status).toBe(200)
    await page.getByText('Viewed a page on', { exact: false }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('shows figures compared to the previous period, by day and as a table', async () => {
    for (let day = 1; day < 14; day++) {
      for (let visitor = 0; visitor <= day % 4; visitor++) await visit(`v${visitor}`, `/page-${visitor}`, daysAgo(day))
    }
    const page = await browser.signedIn(tenant)
    const model = page.waitForResponse('**/v1/ask')
    await openWithin(page, '/?range=7d')
    const figures = page.getByRole('region', { name: 'Figures' })
    await figures.getByText('Visitors', { exact: true }).waitFor()
    expect(await figures.textContent()).toMatch(/Events\d+.*\d+ before/)
    // Nobody can be asked without a model.
    expect(await (await model).json()).toMatchObject({ model: null })
    expect(await page.getByLabel('Ask your data').count()).toBe(0)
    await page.getByRole('button', { name: 'Show as table' }).click()
    const table = page.getByRole('region', { name: 'Events by day' }).getByRole('table')
    expect(await table.getByRole('row').count()).toBe(8)
    expect(await checkPage(page, 'home-numbers')).toEqual([])
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.getByRole('menuitem', { name: 'Last 12 months' }).click()
    await page.waitForURL('**/?range=365d')
    await page.getByRole('button', { name: 'Last 12 months' }).click()
    await page.getByRole('menuitem', { name: 'Custom dates…' }).click()
    await page.getByLabel('From', { exact: true }).fill('2026-01-05')
    await page.getByLabel('To', { exact: true }).fill('2026-01-01')
    await page.getByRole('button', { name: 'Apply dates' }).click()
    await page.waitForURL('**/?range=custom&from=2026-01-01&to=2026-01-05')
    await page.getByText('No page views in this period.').waitFor()
    await page.getByRole('button', { name: '1 Jan 2026 – 5 Jan 2026' }).waitFor()
    expect(await checkPage(page, 'home-empty')).toEqual([])
    expect(browser.problems).toEqual([])
  })

  test('links a ranked page to the counted events: those of its days, and of no other page', async () => {
    const days = [daysAgo(0)]
    const page = await browser.signedIn(tenant, { path: '/?range=7d' })
    const ranked = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: '/page-1', exact: true }) })
    const views = (await ranked.textContent())?.match(/page-1(\d+) views/)?.[1]
    // The whole row is clickable.
    await ranked.getByText(`${views} views`, { exact: true }).click({ force: true })
    await page.getByText(new RegExp(`of ${views}$`)).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'google.com' }).press('Enter')
    await page.waitForURL('**/events?*referring_domain=google.com*')
    await page
      .getByRole('link', { name: /^Viewed/ })
      .first()
      .waitFor()
    // It may be past midnight now.
    days.push(daysAgo(0))
    expect(days.map((day) => day.slice(0, 10))).toContain(new URL(page.url()).searchParams.get('date_before'))
    expect(browser.problems).toEqual([])
  })

  test("shows its own tenant's events as they arrive, until it is paused", async () => {
    const other = await createTestTenant(service)
    const page = await browser.signedIn(tenant)
    const feed = page.getByRole('list', { name: 'Who is here, by what they did last' })
    await feed.getByRole('listitem').first().waitFor()
    await page.locator('[data-live="true"]').waitFor()
    await other.track({ visitor_id: 'x', events: [{ event: 'secret_event', url: `https://${other.site}/` }] })
    await tenant.track({
      visitor_id: 'live',
      events: [{ event: 'asked_for_demo', url: `https://${tenant.site}/demo` }],
    })
    await feed.getByText('Asked for demo').waitFor()
    expect(await feed.textContent()).not.toContain('Secret event')
    // The contact of an event is fetched after it has arrived.
    await tenant.contact('live@example.com', { firstname: 'Ada', lastname: 'Live' }, { visitor_id: 'known' })
    await tenant.track({ visitor_id: 'known', events: [{ event: 'came_back', url: `https://${tenant.site}/` }] })
    await feed.getByRole('listitem').filter({ hasText: 'Came back' }).getByText('Ada Live').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused').waitFor()
    await tenant.track({ visitor_id: 'later', events: [{ event: 'came_later', url: `https://${tenant.site}/demo` }] })
    // Events arrive in their order.
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('[data-live="true"]').waitFor()
    await tenant.track({ visitor_id: 'live', events: [{ event: 'came_last', url: `https://${tenant.site}/demo` }] })
    await feed.getByText('Came last').waitFor()
    expect(await feed.textContent()).not.toContain('Came later')
    expect(browser.problems).toEqual([])
  })

  test('shows each person once, those with a name first, and no bots', async () => {
    const own = await createTestTenant(service)
    const at = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()
    const view = (visitor_id: string, title: string, seconds: number, headers = {}) =>
      own.track(
        {
          visitor_id,
          events: [{ event: 'page_view', url: `https://${own.site}/`, title, timestamp: at(seconds) }],
        },
        headers,
      )
    await own.contact('grace@example.com', { firstname: 'Grace', lastname: 'Hopper' }, { visitor_id: 'grace' })
    await own.contact('old@example.com', { firstname: 'Was', lastname: 'Here' }, { visitor_id: 'old' })
    await view('old', 'Blog', 3 * 3_600)
    for (const [title, seconds] of [
      ['Home', 90],
      ['Pricing', 60],
      ['Sign up', 30],
    ] as const)
      await view('grace', title, seconds)
    await own.track({
      visitor_id: 'grace',
      events: [{ event: 'page_leave', url: `https://${own.site}/`, timestamp: at(20) }],
    })
    await view('anonymous', 'Docs', 10)
    await view('crawler', 'Robots', 5, { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' })
    const page = await browser.signedIn(own, { scheme: 'dark', path: '/?range=7d' })
    const lines = page.getByRole('list', { name: 'Who is here, by what they did last' }).getByRole('listitem')
    await lines.filter({ hasText: 'Docs' }).waitFor()
    await lines.filter({ hasText: 'Was Here' }).waitFor()
    const shown = await lines.allTextContents()
    expect(shown.map((line) => /Grace Hopper|Anonymous visitor|Was Here/.exec(line)?.[0])).toEqual([
      'Grace Hopper',
      'Anonymous visitor',
      'Was Here',
    ])
    expect(shown[0]).toContain('Viewed Sign up · 3 steps')
    await page.getByText(/^Compared with the 7 days before, up to the same time \(\d\d:\d\d UTC\)/).waitFor()
    await page.getByText('Today so far', { exact: true }).waitFor()
    expect(await checkPage(page, 'home-people')).toEqual([])
    expect(browser.problems).toEqual([])
  })

  test('has a navigation that the keyboard can open and close on a phone', async () => {
    const page = await browser.signedIn(tenant, { width: 360 })
    const button = page.getByRole('button', { name: 'Navigation' })
    const navigation = page.getByRole('navigation', { name: 'Main' })
    const link = navigation.getByRole('link', { name: 'Home' })
    const hasFocus = (what: typeof button) => what.evaluate((element) => element === document.activeElement)
    await button.focus()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('nav') === null)).toBe(true)
    for (const open of ['Enter', 'Space']) {
      await button.press(open)
      await link.waitFor()
      expect(await button.getAttribute('aria-expanded')).toBe('true')
      await page.keyboard.press('Tab')
      expect(await hasFocus(link)).toBe(true)
      await page.keyboard.press('Escape')
      await navigation.waitFor({ state: 'hidden' })
      expect(await button.getAttribute('aria-expanded')).toBe('false')
      expect(await hasFocus(button)).toBe(true)
    }
    // The key closes only the menu.
    await button.press('Enter')
    await page.getByRole('button', { name: /Account and workspace/ }).press('Enter')
    // The menu gets the focus after it is rendered; until then the key would close the navigation.
    await page.locator('[role=menu]:focus, [role=menu] :focus').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    expect(await link.isVisible()).toBe(true)
    // The focus cannot be in the page while the navigation covers it.
    await page.getByRole('button', { name: /Account and workspace/ }).focus()
    await page.keyboard.press('Tab')
    await navigation.waitFor({ state: 'hidden' })
    expect(browser.problems).toEqual([])
  })

  test('switches to another tenant of the person, and keeps no data of the previous one', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    const created = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json', 'x-requested-by': 'dashboard' }
      const response = await fetch('/api/tenants', { method: 'POST', headers, body: '{"name":"Second"}' })
      return response.status
    })
    expect(created).toBe(201)
    await tenant.contact('first@example.com', { firstname: 'Only', lastname: 'First' })
    await page.reload()
    await page.getByRole('link', { name: 'Only First' }).waitFor()
    await page.getByRole('button', { name: /Account and workspace/ }).click()
    await page.getByRole('menuitem', { name: 'Second' }).click()
    await page.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  async function visit(visitor_id: string, path: string, timestamp: string): Promise<void> {
    const events = [{ event: 'page_view', url: `https://${tenant.site}${path}`, title: path, timestamp }]
    const { status } = await tenant.track({ visitor_id, events, context: { referrer: 'https://www.google.com/' } })
    expect(status).toBe(200)
  }
})
