import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, reopen, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
/** The approximate time of all events: on one day, even if the tests run over midnight. */
let sentAt: string

describe.skipIf(!HAS_BROWSER)('the events', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const contactId = await tenant.contact('ada@example.com', { firstname: 'Ada', lastname: 'Lovelace' })
    sentAt = new Date().toISOString()
    for (let n = 0; n < 6; n++) {
      const event = { event: n % 3 === 0 ? 'button_click' : 'page_view', title: `Page ${n}` }
      const url = `https://${tenant.site}/page-${n % 2}`
      // Sequential, because events at the same time have no order.
      const timestamp = new Date(Date.parse(sentAt) + n - 6).toISOString()
      const events = Array.from({ length: 5 }, () => ({ ...event, url, timestamp, data: { text: 'Buy', n } }))
      await tenant.track({ visitor_id: `visitor-${n}`, events })
    }
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { visitor_id: 'visitor-0' })
  })
  afterAll(() => browser?.close())

  const open = (path: string, options: { width?: number; scheme?: 'light' | 'dark'; role?: 'viewer' } = {}) =>
    browser.signedIn(tenant, { path, ...options })
  const rows = (page: Page) => page.getByRole('region', { name: 'Events' }).getByRole('row')

  test('the list shows every event, searches and filters, and its address stores the filters', async () => {
    const page = await open('/events')
    await expect.poll(() => rows(page).count()).toBe(21)
    await page.getByText('1–20 of 30').waitFor()
    await page.getByRole('searchbox').fill('button_click')
    await page.getByText('1–10 of 10').waitFor()
    expect(page.url()).toContain('search=button_click')
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: /Filters/ }).click()
    await page.getByLabel('URL contains').fill('/page-1')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–15 of 15').waitFor()
    await reopen(page)
    await page.getByText('1–15 of 15').waitFor()
    await page.getByRole('button', { name: 'System events' }).click()
    await page.getByRole('button', { name: 'System events', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('button', { name: 'When' }).click()
    await page.getByText('contact_created').waitFor()
    await screenshot(page, 'events')
  })

  test("an event page shows all its fields, and links to its visitor's other events", async () => {
    const page = await open('/events?event_type=button_click')
    await page.getByRole('link', { name: 'Clicked “Buy” on Page' }).first().click()
    await page.getByRole('heading', { name: /^Clicked “Buy” on Page/, level: 1 }).waitFor()
    await page.getByText('"text": "Buy"').waitFor()
    await screenshot(page, 'event')
    await page
      .getByRole('table', { name: 'Who' })
      .getByRole('link', { name: /^visitor-/ })
      .click()
    await page.waitForURL(/\/visitors\/visitor-/)
    await page.getByRole('heading', { name: 'About this visitor' }).waitFor()
  })

  test('an event, its visitor and its visit say where it came from, and it can be found by that', async () => {
    const other = await createTestTenant(service)
    const sent = await other.call('POST', '/v1/events', {
      events: [
        {
          event: 'page_view',
          visitor_id: 'visitor-from-abroad',
          session_id: 'abroad',
          url: `https://${other.site}/?utm_source=newsletter&utm_campaign=autumn`,
          context: { ip: '193.0.6.139' },
        },
      ],
    })
    expect(sent.body.failed).toBe(0)
    const page = await browser.signedIn(other, { path: '/events' })
    await page.getByRole('button', { name: /Filters/ }).click()
    await page.getByLabel('UTM source').fill('newsletter')
    await page.getByLabel('Country (code)').fill('NL')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('link', { name: /^Viewed/ }).click()
    const facts = page.getByRole('table', { name: 'Event and page' })
    await facts.getByRole('row', { name: 'UTM campaign autumn' }).waitFor()
    expect(await facts.getByRole('row', { name: 'UTM medium' }).count()).toBe(0)
    await page.getByRole('table', { name: 'Device' }).getByRole('row', { name: 'Place Netherlands' }).waitFor()
    await page.getByRole('link', { name: 'visitor-from-abroad' }).click()
    await page.getByText('Netherlands').first().waitFor()
    await page.getByText('From newsletter').waitFor()
  })

  test('groups count events by any dimension, by day as a chart or a table', async () => {
    const page = await open('/events/groups')
    await page.getByText('30 events, 2 groups').waitFor()
    await screenshot(page, 'event-groups')
    await page.getByLabel('Group by').selectOption('url_path')
    await page.getByText('/page-0').waitFor()
    await page.getByLabel('Group by').selectOption('day')
    await page.getByRole('button', { name: 'Show as table' }).click()
    const day = sentAt.slice(0, 10)
    await page.getByRole('row', { name: `${day} 30` }).waitFor()
    // A group links to exactly its counted events.
    await page.getByRole('link', { name: day }).click()
    await page.getByText('1–20 of 30').waitFor()
    await openWithin(page, '/events/groups?group_by=visitor_id&event_type=page_view')
    await page.getByRole('link', { name: 'visitor-1' }).click()
    await page.getByText('1–5 of 5').waitFor()
    await page.getByText('Visitor ID visitor-1').waitFor()
    expect(page.url()).toContain('event_type=page_view')
    await openWithin(page, '/events/groups?group_by=class')
    await page.getByText('30 events, 0 groups').waitFor()
    expect(await page.getByRole('main').getByRole('listitem').getByRole('link').count()).toBe(0)
  })

  test('groups of contacts and companies have their names, with links to them and to their events', async () => {
    const own = await createTestTenant(service)
    const { body } = await own.call('POST', '/v1/companies', { name: 'Engines' })
    const company_id = body.company.company_id
    await own.contact('grace@example.com', { firstname: 'Grace' }, { visitor_id: 'grace', company_id })
    await own.track({ visitor_id: 'grace', events: [{ event: 'signed_up' }, { event: 'came_back' }] })
    const page = await browser.signedIn(own, { path: '/events/groups?group_by=contact_id' })
    await page.getByText('grace@example.com').waitFor()
    await page.getByRole('link', { name: 'See the events of Grace' }).click()
    await page.getByText('1–2 of 2').waitFor()
    await openWithin(page, '/events/groups?group_by=company_id')
    await page.getByRole('link', { name: 'See the events of Engines' }).click()
    await page.getByText('1–2 of 2').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Engines', exact: true }).click()
    await page.getByRole('heading', { name: 'Engines', level: 1 }).waitFor()
  })

  test('visits are listed by day, filtered, and open to their events with the time on each page', async () => {
    const own = await createTestTenant(service)
    const [url, title] = [`https://${own.site}/pricing`, 'Pricing']
    const at = (seconds: number) => new Date(Date.parse(sentAt) - seconds * 1_000).toISOString()
    await own.track({
      visitor_id: 'v',
      events: [
        { event: 'page_view', url, title, timestamp: at(90), referrer: 'https://www.google.com/' },
        { event: 'button_click', url, title, timestamp: at(60), data: { text: 'Start trial' } },
        { event: 'page_leave', url, title, timestamp: at(45), data: { time_on_page: 45 } },
      ],
    })
    const page = await browser.signedIn(own, { path: '/events' })
    await page.getByRole('tab', { name: 'Visits' }).click()
    await page.waitForURL('**/events/visits')
    await page.getByRole('button', { name: 'Visit from google.com · 1 page · 45 s' }).click()
    await page.getByRole('link', { name: 'Viewed Pricing for 45 s' }).waitFor()
    await page.getByRole('link', { name: 'Clicked “Start trial” on Pricing' }).waitFor()
    expect(await page.getByText(/^Left/).count()).toBe(0)
    expect(await checkPage(page, 'visits')).toEqual([])
    await openWithin(page, '/events/visits?is_bot=true')
    await page.getByRole('heading', { name: 'No visit matches' }).waitFor()
  })

  test('data from pages and people is shown as text and never runs', async () => {
    const hostile = await createTestTenant(service)
    const url = `https://${hostile.site}/<img src=x onerror=alert(1)>`
    const data = { text: '<script>alert(1)</script>', link: 'javascript:alert(1)', '=cmd': '‮rtl' }
    const event = { event: '<b>bold</b>', url, title: 'x'.repeat(10_000), data, referrer: 'javascript:alert(1)' }
    await hostile.track({ visitor_id: '"><svg onload=alert(1)>', events: [event] })
    const page = await browser.signedIn(hostile, { path: '/events' })
    page.on('dialog', () => browser.problems.push('a dialog opened'))
    await page.getByRole('link', { name: '<b>bold</b>' }).click()
    await page.getByRole('heading', { name: '<b>bold</b>', level: 1 }).waitFor()
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
    await screenshot(page, 'event-hostile')
  })

  test('an unknown event shows a message', async () => {
    const page = await open('/events/0190c8a5-0000-7000-8000-000000000000')
    await page.getByRole('alert').waitFor()
  })

  test.each([
    ['/events', 'events'],
    ['/events/groups', 'event-groups'],
  ])('%s is accessible, on small and large screens, light and dark', async (path, name) => {
    const page = await open(path)
    await page
      .getByText(/Clicked/)
      .first()
      .waitFor()
    expect(await checkPage(page, name)).toEqual([])
  })

  test('the list can be saved as a view, and exported', async () => {
    const page = await open('/events?event_type=button_click')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export events as CSV' }).click()
    const stream = await (await download).createReadStream()
    const lines = (await new Response(stream as unknown as ReadableStream).text()).trim().split(/\r?\n/)
    expect(lines).toHaveLength(11)
    expect(lines[1]).toContain('button_click')
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
