import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, isLoaded, openBrowser, openWithin, reopen, screenshot, type TestBrowser } from './browser.ts'

const DAY_MS = 86_400_000
const BROWSERS = ['Chrome', 'Safari', 'Firefox']

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('insights', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    // 12 days: the visitors of a day see a page each, every third one buys something.
    for (let ago = 0; ago < 12; ago++) {
      for (let visitor = 0; visitor < 3 + ((ago * 5) % 7); visitor++) {
        const timestamp = new Date(Date.now() - ago * DAY_MS - 1_000).toISOString()
        const of = { url: `https://${tenant.site}/p-${visitor % 3}`, timestamp, data: { browser: BROWSERS[visitor % 3] } }
        const events = [
          { event: 'page_view', title: `Page ${visitor % 3}`, ...of },
          ...(visitor % 3 === 0 ? [{ event: 'order_paid', ...of, data: { amount: 20 + ago, currency: 'EUR' } }] : []),
        ]
        await tenant.track({ visitor_id: `visitor-${(ago + visitor) % 9}`, session_id: `s-${ago}-${visitor}`, events })
      }
    }
  })
  afterAll(() => browser?.close())

  const open = (path: string, options: { width?: number; scheme?: 'light' | 'dark' } = {}) =>
    browser.signedIn(tenant, { path, ...options })
  const totals = (page: Page) => page.getByRole('region', { name: 'Totals' })
  const asked = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('question') ?? 'null')

  test('an empty question proposes itself from the events', async () => {
    const page = await open('/insights')
    await totals(page).getByRole('row', { name: 'Viewed a page: people' }).waitFor()
    expect(asked(page)).toBeNull()
    expect(await checkPage(page, 'insights-trend')).toEqual([])
  })
})
