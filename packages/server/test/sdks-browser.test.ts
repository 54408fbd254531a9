import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { HAS_BROWSER, sharedChromium } from './chromium.ts'
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { COUNTED, counted } from './sdks.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'
import { createSource } from './sources.ts'
import { until, untilThere } from './webhooks.ts'

/** The SDKs of Segment and RudderStack for browsers, as they are published, on pages of a verified domain. */

const SCRIPTS: Record<string, string> = {
  '/segment.js': 'node_modules/@segment/analytics-next/dist/umd/index.js',
  '/rudder.js': 'node_modules/@rudderstack/analytics-js/dist/npm/modern/bundled/umd/index.js',
}

/** Code of a page that loads an SDK as `analytics`; only the service's URL and the key are ours. */
const segment =
  (options = '{}') =>
  (key: string, url: string) =>
    `<script src="/segment.js"></script><script>
  window.analytics = AnalyticsNext.AnalyticsBrowser.load({ writeKey: '${key}', cdnURL: '${url}' }, ${options})
</script>`
const rudder =
  (options = '{}') =>
  (key: string, url: string) =>
    `<script src="/rudder.js"></script><script>
  window.analytics = new rudderanalytics.RudderAnalytics()
  analytics.load('${key}', '${url}', { configUrl: '${url}', ...${options} })
</script>`

/** For Segment's SDK it costs ever more to add a call to a batch, because it measures all of it each time. */
const PER_REQUEST = 25
const BATCHING_OF_SEGMENT = `{ integrations: { 'Segment.io': { deliveryStrategy: {
  strategy: 'batching', config: { size: ${PER_REQUEST}, timeout: 500 }
} } } }`
const BATCHING_OF_RUDDERSTACK = `{ queueOptions: { batch: {
  enabled: true, maxItems: ${PER_REQUEST}, flushInterval: 500
} } }`

const AN_HOUR_AHEAD = `{
  const RealDate = Date
  const now = () => RealDate.now() + 3_600_000
  Date = class extends RealDate {
    constructor(...parts) { parts.length === 0 ? super(now()) : super(...parts) }
    static now() { return now() }
  }
}`

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  let service: TestService
  let proxy: FaultyProxy
  let site: Server
  let tenant: TestTenant
  let host: string
  let head: (key: string, url: string) => string
  let key: string
  let sites = 0

  beforeAll(async () => {
    // The service tells Segment's SDK where to send, so it needs the URL of the proxy before it starts.
    proxy = await startFaultyProxy('')
    service = await startTestService({ CDS_PUBLIC_URL: proxy.url })
    proxy.target = service.url
    site = createServer((request, response) => {
      const file = SCRIPTS[request.url ?? '']
      if (file) return response.setHeader('content-type', 'text/javascript').end(readFileSync(file))
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><html lang="en"><title>Shop</title>${head(key, proxy.url)}<h1>Shop</h1></html>`)
    }).listen(0, '127.0.0.1')
  })
  afterAll(async () => {
    site?.close()
    await proxy?.close()
    await service?.close()
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
    host = `shop${++sites}.localhost`
    await addVerifiedDomain(tenant.handle, host, new Date())
    key = await createSource(tenant, 'browser')
    proxy.plan = () => null
  })

  const urlOf = (path: string) => `http://${host}:${(site.address() as AddressInfo).port}${path}`

  /** Opens a page with an SDK in a browser that knows nothing of the site. @param script runs before the page's own. */
  async function open(
    code: typeof head,
    use: (page: Page) => Promise<void>,
    { script = '', hasClock = false } = {},
  ): Promise<void> {
    head = code
    const context = await (await sharedChromium()).newContext({ locale: 'it-IT', timezoneId: 'Europe/Rome' })
    try {
      const page = await context.newPage()
      await page.addInitScript(script)
      if (hasClock) await page.clock.install()
      await page.goto(urlOf('/pricing?utm_source=mail'))
      await use(page)
    } finally {
      await context.close()
    }
  }

  const isReady = 'analytics.instance?.initialized ?? analytics.getAnonymousId?.()'
  /** The same, with a clock that `arrived` moves, so that nothing waits before it is sent again. */
  const openWithClock = (code: typeof head, use: (page: Page) => Promise<void>) =>
    open(
      code,
      async (page) => {
        await page.waitForFunction(isReady)
        await use(page)
      },
      { hasClock: true },
    )

  const count = (page: Page, from: number, to: number) =>
    page.evaluate(`for (let n = ${from}; n < ${to}; n++) analytics.track('Counted', { n })`)

  /** The numbers of the calls that are recorded, once there are this many and the SDK has had time to send more. */
  async function arrived(page: Page, calls: number): Promise<number[]> {
    const moveOn = () => page.clock.runFor(500)
    await untilThere(async () => {
      await moveOn()
      return (await tenant.call('GET', '/v1/events?count_only=true')).body.count
    }, calls)
    await moveOn()
    return counted(async (path) => (await tenant.call('GET', path)).body)
  }

  const eventsOf = async (query: string) =>
    (await tenant.call('GET', `/v1/events?sort_dir=asc&limit=100&${query}`)).body.events

  test.each([
    ['Segment', segment()],
    ['RudderStack', rudder()],
  ])("%s's SDK records pages, events, people and companies", async (_name, code) => {
    await open(code, async (page) => {
      await page.evaluate('analytics.page("Pricing", { plan: "pro" })')
      await page.evaluate('analytics.track("Trial Started", { seats: 5 })')
      await until(async () => expect(await eventsOf('')).toHaveLength(2))
      await page.evaluate('analytics.identify("user-42", { email: "ada@example.com", firstName: "Ada" })')
      await page.evaluate('analytics.group("acme.example", { name: "Acme" })')
      await page.evaluate('analytics.track("Plan Chosen")')
      await until(async () => expect((await tenant.contactOf('ada@example.com'))?.company_id).toBeTruthy())
    })
    const contact = await tenant.contactOf('ada@example.com')
    expect(contact.properties).toMatchObject({ firstname: 'Ada', first_utm_source: 'mail' })
    await until(async () => expect(await eventsOf(`contact_id=${contact.contact_id}`)).toHaveLength(3))
    const [pageView, ...others] = await eventsOf(`contact_id=${contact.contact_id}`)
    expect(pageView).toMatchObject({
      event: 'page_view',
      url: urlOf('/pricing?utm_source=mail'),
      domain: host,
      os: 'Linux',
      data: { name: 'Pricing', title: 'Shop', plan: 'pro' },
    })
    expect(others).toMatchObject([{ event: 'Trial Started', data: { seats: 5 } }, { event: 'Plan Chosen' }])
    const { company } = (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
    expect(company).toMatchObject({ domain: 'acme.example', name: 'Acme' })
  })

  test.each([
    ['Segment', segment()],
    ['RudderStack', rudder()],
  ])("the clock of a browser with %s's SDK is corrected, also of an explicit time", async (_name, code) => {
    const now = Date.now()
    await open(
      code,
      async (page) => {
        await page.evaluate('analytics.track("Now")')
        const day = 'new Date(Date.now() - 86_400_000)'
        await page.evaluate(
          `analytics.track("Yesterday", {}, { timestamp: ${day}, originalTimestamp: ${day}.toISOString() })`,
        )
        await until(async () => expect(await eventsOf('')).toHaveLength(2))
      },
      { script: AN_HOUR_AHEAD },
    )
    const minutesAgo = async (event: string) => {
      const [{ timestamp }] = await eventsOf(`event_type=${event}`)
      return Math.round((now - Date.parse(timestamp)) / 60_000)
    }
    expect(Math.abs(await minutesAgo('Now'))).toBeLessThan(3)
    expect(Math.abs((await minutesAgo('Yesterday')) - 24 * 60)).toBeLessThan(3)
  })

  test.each([
    ['Segment', segment(BATCHING_OF_SEGMENT)],
    ['RudderStack', rudder('{ useBeacon: true }')],
  ])("%s's SDK records what happens as the page is left", async (_name, code) => {
    await open(code, async (page) => {
      await page.waitForFunction(isReady)
      await page.evaluate('analytics.track("Left")')
      await page.goto('about:blank')
      await until(async () => expect(await eventsOf('')).toMatchObject([{ event: 'Left' }]))
    })
  })

  const BATCHING: [string, typeof head][] = [
    ['Segment', segment(BATCHING_OF_SEGMENT)],
    ['RudderStack', rudder(BATCHING_OF_RUDDERSTACK)],
  ]
  const FAULTS: [string, Fault][] = [
    ['500', { at: 'before', status: 500 }],
    ['503 after the calls were recorded', { at: 'after', status: 503 }],
    ['a connection that is cut before the service has the request', { at: 'before', status: 'cut' }],
    ['a connection that is cut before the response', { at: 'after', status: 'cut' }],
    ['429', { at: 'before', status: 429, headers: { 'retry-after': '1' } }],
  ]

  test.each(BATCHING.flatMap(([name, code]) => FAULTS.map(([what, fault]) => ({ name, code, what, fault }))))(
    "$name's SDK loses and doubles none of 200 calls by $what",
    async ({ code, fault }) => {
      const faults = new Map<string | undefined, number>()
      let sent = 0
      await openWithClock(code, async (page) => {
        proxy.plan = (_nth, method) => {
          // The first preflight, and then the first request and every third.
          if (faults.has('OPTIONS') ? method === 'OPTIONS' || sent++ % 3 !== 0 : method !== 'OPTIONS') return null
          faults.set(method, (faults.get(method) ?? 0) + 1)
          return fault
        }
        // One after another, because an SDK that has to send again sends all that waits at once.
        for (let calls = 50; calls <= 200; calls += 50) {
          await count(page, calls - 50, calls)
          expect(await arrived(page, calls)).toEqual(COUNTED.slice(0, calls))
        }
      })
      expect(faults.get('OPTIONS')).toBe(1)
      expect(faults.get('POST')).toBeGreaterThan(2)
    },
  )

  test.each(BATCHING)(
    "%s's SDK loses and doubles none of 200 calls while the service restarts",
    async (_name, code) => {
      await openWithClock(code, async (page) => {
        let isAway = true
        let refused = 0
        proxy.plan = () => {
          if (!isAway) return null
          refused++
          return { at: 'before', status: 'cut' }
        }
        await count(page, 0, 200)
        await until(async () => {
          await page.clock.runFor(500)
          expect(refused).toBeGreaterThan(1)
        })
        isAway = false
        expect(await arrived(page, 200)).toEqual(COUNTED.slice(0, 200))
      })
    },
  )

  test.each(BATCHING.flatMap(([name, code]) => [400, 401, 413].map((status) => ({ name, code, status }))))(
    "$name's SDK drops what is rejected with $status, and sends the rest once",
    async ({ code, status }) => {
      await openWithClock(code, async (page) => {
        let rejected = false
        proxy.plan = (_nth, method) => {
          if (rejected || method !== 'POST') return null
          rejected = true
          return { at: 'before', status }
        }
        await count(page, 0, 100)
        const numbers = await arrived(page, 100 - PER_REQUEST)
        expect(numbers).toHaveLength(100 - PER_REQUEST)
        expect(new Set(numbers).size).toBe(100 - PER_REQUEST)
      })
    },
  )
})
