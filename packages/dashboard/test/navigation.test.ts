import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { nextFrame, openBrowser, openWithin, type TestBrowser } from './browser.ts'

/** Every link of the main navigation, with its request, or else its script, and the text that it then shows. */
const LINKS: [name: string, data: string | RegExp, shows: string][] = [
  ['Contacts', '/v1/contacts', 'ada@example.com'],
  ['Companies', '/v1/companies', 'Engines'],
  ['Segments', '/v1/segments', 'No segments yet'],
  ['Activity', '/v1/events', 'Pricing'],
  ['Insights', '/v1/insights/trend', 'Viewed a page: people'],
  ['Approvals', '/v1/approvals', 'Nothing to approve'],
  ['Agents', '/v1/agents', 'No agents yet'],
  ['Senders', '/v1/identities', 'No senders yet'],
  ['Integrations', '/v1/connections', 'WordPress'],
  ['Settings', /\/profile-page-[^/]+\.js$/, 'Your name'],
  ['Home', '/v1/overview', 'Top pages'],
]

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('navigation', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
    await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    const events = [{ event: 'page_view', url: `https://${tenant.site}/pricing`, title: 'Pricing' }]
    await tenant.track({ visitor_id: 'v', events })
  })
  afterAll(() => browser?.close())

  test('a page is prefetched before the click, when its link is hovered or focused', async () => {
    const page = await browser.signedIn(tenant, { fresh: true, path: '/settings/keys' })
    const network = watch(page)
    for (const [index, [name, data, shows]] of LINKS.entries()) {
      const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
      await (index % 2 === 0 ? link.hover() : link.focus())
      await network.quietAfter(data)
      await withoutNetwork(page, async () => {
        await link.click()
        await page.locator('#main').getByText(shows).first().waitFor()
      })
    }
    await openWithin(page, '/contacts')
    const row = page.getByRole('link', { name: 'ada@example.com' })
    await row.hover()
    await network.quietAfter('/v1/timeline')
    await withoutNetwork(page, async () => {
      await row.click()
      await page.getByRole('tabpanel', { name: 'Timeline' }).getByText('Pricing').first().waitFor()
    })
    expect(browser.problems).toEqual([])
  })

  test('on a phone, without hover, the scripts of all main pages are fetched when idle', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/keys', width: 360 })
    const network = watch(page)
    // A full load.
    await page.goto('/settings/keys')
    // The script of the current page may finish meanwhile.
    const scripts = () => [...network.fetched].filter((path) => /(?<!keys)-page-[^/]+\.js$/.test(path))
    // All links except Settings, which is the current page, and Home, which is in the first script.
    await expect.poll(scripts).toHaveLength(LINKS.length - 2)
  })
})

/** A page's requests, and whether they have completed. */
function watch(page: Page) {
  const open = new Set<Request>()
  /** Since the last page was prefetched. */
  const finished: string[] = []
  /** Since the page was loaded. */
  const fetched = new Set<string>()
  const refused: string[] = []
  let started = 0
  page.on('request', (request) => {
    started++
    if (request.resourceType() !== 'eventsource') open.add(request)
  })
  page.on('requestfinished', (request) => {
    open.delete(request)
    const { pathname, search } = new URL(request.url())
    // The frame asks how many actions wait, now and then.
    if (pathname + search !== '/v1/approvals?limit=1') finished.push(pathname)
    fetched.add(pathname)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  page.on('requestfailed', (request) => open.delete(request))
  /** Whether the page asks for nothing more when it has handled what arrived. */
  const isQuiet = async () => {
    if (open.size > 0) return false
    const before = started
    await idle(page)
    await nextFrame(page)
    await idle(page)
    return open.size === 0 && started === before
  }
  /** Waits until some data, or a script, has been read and no requests are open. */
  const quietAfter = async (needed: string | RegExp) => {
    if (typeof needed === 'string') await expect.poll(() => finished).toContain(needed)
    else await expect.poll(() => [...fetched].some((path) => needed.test(path))).toBe(true)
    // A response may cause further requests.
    await expect.poll(isQuiet).toBe(true)
    expect(refused).toEqual([])
    finished.length = 0
  }
  return { fetched, quietAfter }
}

/** Waits until the page is idle. */
function idle(page: Page): Promise<true> {
  return page.evaluate(() => new Promise<true>((done) => requestIdleCallback(() => done(true))))
}

async function withoutNetwork(page: Page, act: () => Promise<void>): Promise<void> {
  await page.context().setOffline(true)
  await act()
  await page.context().setOffline(false)
}
