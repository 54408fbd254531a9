import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { openBrowser, type TestBrowser } from './browser.ts'

/** The most that a page may move in all, as browsers measure it. */
const SHIFT_MAX = 0.026

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('the font', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await tenant.contact('ada@example.com', { firstname: 'Ada' })
  })
  afterAll(() => browser?.close())

  test('is served by the service, for ever, and shown', async () => {
    const page = await browser.signedIn(tenant, { fresh: true })
    const files = new Map<string, string | undefined>()
    page.on('response', (response) => {
      const [name] = /inter[^/]*\.woff2$/.exec(new URL(response.url()).pathname) ?? []
      if (name !== undefined) files.set(name, response.headers()['cache-control'])
    })
    await page
      .context()
      .newCDPSession(page)
      .then((session) => session.send('Network.clearBrowserCache'))
    await page.goto('/contacts')
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor()
    await expect.poll(() => files.size).toBe(2)
    expect([...new Set(files.values())]).toEqual(['public, max-age=31536000, immutable'])
    const isLoaded = () => page.evaluate(() => document.fonts.check('550 16px Inter', 'A 1'))
    await expect.poll(isLoaded).toBe(true)
    expect(browser.problems).toEqual([])
  })

  test('moves nothing when it arrives late', async () => {
    const page = await browser.signedIn(tenant, { fresh: true, path: '/settings/limits' })
    const held: (() => void)[] = []
    // Everything anew, as on the first visit.
    await page
      .context()
      .route('**/*.woff2', (route) => new Promise<void>((send) => held.push(() => send(route.continue()))))
    const session = await page.context().newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await page.goto('/contacts', { waitUntil: 'commit' })
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor()
    await page.evaluate(watchShifts)
    await expect.poll(() => held.length).toBeGreaterThan(0)
    for (const send of held) send()
    await expect.poll(() => page.evaluate(() => document.fonts.check('400 16px Inter', 'A 1'))).toBe(true)
    await page.evaluate(() => document.fonts.ready.then(() => undefined))
    expect(await page.evaluate(() => (globalThis as unknown as { shift: number }).shift)).toBeLessThanOrEqual(SHIFT_MAX)
    await page.context().close()
  })
})

/** Runs in the page: adds up how far its parts move from now on. */
function watchShifts(): void {
  const sum = globalThis as unknown as { shift: number }
  sum.shift = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum.shift += (entry as unknown as { value: number }).value
  }).observe({ type: 'layout-shift' })
}
