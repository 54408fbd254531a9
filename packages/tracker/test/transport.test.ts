import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { cookiesOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()
  afterEach(() => {
    site.fail = null
  })
  const track = (page: Page, ...names: string[]) =>
    page.evaluate((list) => {
      for (const name of list) (window as unknown as Global).service.track?.(name)
    }, names)
  const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`)
  const recorded = async (tenant: Awaited<ReturnType<typeof site.host>>['tenant']) =>
    (await tenant.call('GET', '/v1/events?limit=100')).body.events.map(({ event }: { event: string }) => event)

  test('events are sent in order, in batches of at most ten', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url, { tag: 'data-fingerprint="off"', impatient: true })
    await site.drained(url, page)
    const before = site.requests(url).length
    await track(page, ...numbered('e', 34))
    await site.arrived(url, 'e33')
    const batches = site
      .requests(url)
      .slice(before)
      .map(({ body }) => body.events.length)
    expect(Math.max(...batches)).toBe(10)
    expect(batches.reduce((sum, count) => sum + count)).toBe(34)
    expect(site.names(url).filter((name) => /^e\d/.test(name))).toEqual(numbered('e', 34))
    expect(await recorded(tenant)).toHaveLength(34 + 3)
  })

  test('a failed request is retried until it succeeds, and counts once', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url)
    await site.drained(url, page)
    const statuses = [503, 0, 429]
    // The fourth is recorded but its response is lost: only the event id keeps it from counting twice.
    site.fail = ({ body }) => (body.events?.[0]?.event === 'persistent' ? statuses.shift() : undefined)
    await track(page, 'persistent')
    await site.arrived(url, 'persistent')
    const tries = site
      .requests(url)
      .filter(({ body }) => body.events.some(({ event }: { event: string }) => event === 'persistent'))
    expect(tries.map(({ status }) => status)).toEqual([503, 0, 429, 200])
    expect(new Set(tries.map(({ body }) => body.events[0].event_id)).size).toBe(1)
    await page.waitForFunction(() => localStorage.getItem('service_queue') === null)
    const [{ body }] = tries.slice(-1) as [(typeof tries)[number]]
    await tenant.track(body, { origin: url })
    expect((await recorded(tenant)).filter((name: string) => name === 'persistent')).toHaveLength(1)
  })

  test('a request without a response times out and is retried', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { impatient: true })
    await site.drained(url, page)
    let hung = 0
    await page.route(`${site.tracker}/track`, async (route) => {
      if (hung++ > 0) await route.continue()
    })
    await track(page, 'patient')
    await site.arrived(url, 'patient')
    expect(hung).toBeGreaterThan(1)
  })

  test('offline events are stored, also for the next page, and arrive when the network is back', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url)
    await site.drained(url, page)
    const context = page.context()
    await context.setOffline(true)
    await track(page, 'offline1', 'offline2')
    await page.waitForFunction(() => localStorage.getItem('service_queue')?.includes('offline2'))
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    await track(page, ...numbered('many', 150))
    await page.waitForFunction(() => localStorage.getItem('service_queue')?.includes('many149'))
    expect(problems).toEqual([])
    const kept = await page.evaluate(() => localStorage.getItem('service_queue')?.split('\n') ?? [])
    // The oldest are dropped.
    expect(kept).toHaveLength(100)
    expect(kept.join()).not.toContain('offline1')
    await page.goto('about:blank')
    await context.setOffline(false)
    await site.open(url, { page })
    await site.arrived(url, 'many149')
    const { body } = await tenant.call('GET', '/v1/events?event_type=many149&count_only=true')
    expect(body.count).toBe(1)
  })

  test('offline, then online again on the same page', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    await site.drained(url, page)
    await page.context().setOffline(true)
    await track(page, ...numbered('under', 14), 'tunnel')
    await page.waitForFunction(() => localStorage.getItem('service_queue')?.includes('tunnel'))
    expect(site.names(url)).not.toContain('tunnel')
    await page.context().setOffline(false)
    await site.arrived(url, 'tunnel')
    await page.waitForFunction(() => localStorage.getItem('service_queue') === null)
    expect(site.names(url).filter((name) => name.startsWith('under'))).toHaveLength(14)
  })

  test('one event that the service rejects does not affect the others', async () => {
    const { url } = await site.host()
    const head = `<script>function spoil(event) { return event.event === 'bad' ? { event: 'bad', unknown_field: 1 } : event }</script>`
    const page = await site.open(url, { head, tag: 'data-before-send="spoil"' })
    await site.drained(url, page)
    await track(page, 'good1', 'bad', 'good2')
    await site.arrived(url, 'good2')
    expect(site.names(url)).toContain('good1')
    expect(site.names(url)).not.toContain('bad')
  })

  test('an unloading page sends what fits in 64 KB, and the next page sends the rest', async () => {
    const { url, tenant } = await site.host()
    const large = (names: string[]) => names.filter((name) => name.startsWith('large')).sort()
    const page = await site.open(url)
    await site.drained(url, page)
    await page.evaluate(() => {
      for (let i = 0; i < 9; i++)
        (window as unknown as Global).service.track?.(`large${i}`, { text: 'ü'.repeat(7_000) })
      location.href = '/next'
    })
    // The page is closed, and what it could not send is stored.
    await page.waitForURL('**/next')
    await site.open(url, { page })
    // A batch in flight may be sent again, because the page was closed before the response; it still counts once.
    await expect.poll(async () => large(await recorded(tenant))).toEqual(numbered('large', 9))
    expect(site.requests(url).every(({ body }) => Buffer.byteLength(JSON.stringify(body)) < 64_000)).toBe(true)
  })

  test("events from the page's own unload handlers arrive, whichever handler runs first", async () => {
    const { url, tenant } = await site.host()
    const listen = (when: string) => `<script>
      for (const [target, type] of [[document, 'visibilitychange'], [window, 'pagehide']])
        for (const capture of [true, false])
          target.addEventListener(type, () => service.push(['track', type + '_' + capture + '_${when}']), capture)
      </script>`
    const page = await site.open(url, { head: listen('before') })
    await site.drained(url, page)
    // These handlers run after the tracker's.
    await page.evaluate((script) => {
      document.body.append(document.createRange().createContextualFragment(script))
    }, listen('after'))
    await page.goto('about:blank')
    const types = ['visibilitychange', 'pagehide'].flatMap((type) => [`${type}_true`, `${type}_false`])
    const expected = types.flatMap((type) => [`${type}_before`, `${type}_after`])
    await expect.poll(async () => await recorded(tenant)).toEqual(expect.arrayContaining(expected))
    const names = await recorded(tenant)
    expect(names.filter((name: string) => expected.includes(name))).toHaveLength(expected.length)
  })

  test('events of a hidden page are sent at once', async () => {
    const { url } = await site.host()
    // Timers do not fire in a page that is frozen or killed in the background.
    const before = () => {
      const { setTimeout } = window
      const setTimer = (run: () => void, wait?: number) => (document.hidden ? 0 : setTimeout(run, wait))
      Object.assign(window, { setTimeout: setTimer })
    }
    const page = await site.open(url, { before })
    await site.drained(url, page)
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    const requests = site.requests(url).length
    await track(page, ...numbered('hidden', 3))
    await site.arrived(url, 'hidden2')
    expect(site.requests(url).length - requests).toBe(1)
  })

  test('a page restored from the back-forward cache is a new page view', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { path: '/first' })
    await site.drained(url, page)
    await page.goto(url.replace('http://', 'http://www.').concat('/elsewhere'))
    await site.arrived(url, 'page_leave')
    await page.goBack()
    await site.arrived(url, 'page_view', 2)
    expect(site.events(url, 'page_view').map(({ url: of }) => of)).toEqual([`${url}/first`, `${url}/first`])
  })

  test('a prerendered page sends nothing until it is shown', async () => {
    const { url } = await site.host()
    const before = () => {
      Object.defineProperty(document, 'prerendering', {
        configurable: true,
        get: () => !(window as { shown?: boolean }).shown,
      })
    }
    const page = await site.open(url, { before, quiet: true })
    await page.waitForFunction(() => 'optOut' in (window as unknown as Global).service)
    await track(page, 'prerendered')
    await site.settled()
    expect(site.sent.filter(({ origin }) => origin === url)).toEqual([])
    expect(await cookiesOf(page)).toEqual({})
    await page.evaluate(() => {
      ;(window as { shown?: boolean }).shown = true
      document.dispatchEvent(new Event('prerenderingchange'))
    })
    await site.arrived(url, 'prerendered')
    await site.arrived(url, 'page_view')
  })

  test('a page on an unverified domain sends one request only', async () => {
    const { url } = await site.host()
    const stranger = url.replace('//site', '//unverified')
    const page = await openTab()
    // With a route, the tab does not use the script that another page of the site has loaded.
    await page.route('**/tracker.js', (route) => route.continue())
    await site.open(stranger, { page, quiet: true })
    // The script itself is refused to pages that send an Origin or Referer.
    await site.settled()
    expect(site.requests(stranger)).toEqual([])
    expect(await page.evaluate(() => (window as unknown as Global).service)).toEqual([])
    const other = await site.host()
    site.fail = ({ origin }) => (origin === other.url ? 403 : undefined)
    const refused = await site.open(other.url, { page, quiet: true })
    await site.until(() => site.requests(other.url).some(({ status }) => status === 403))
    const count = site.requests(other.url).length
    await track(refused, 'more')
    // A page that is left sends what waits.
    await refused.goto('about:blank')
    await site.settled()
    expect(site.requests(other.url)).toHaveLength(count)
  })
})
