import { describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { cookiesOf, useSite } from './site.ts'
import { openTab, openWindow } from './tabs.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  test('page_view carries title, path, UTM parameters and load time, and first_visit is sent once per browser', async () => {
    const { url, tenant } = await site.host()
    const context = await openWindow({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    const path = '/a/b?utm_source=news&utm_campaign=May+sale%21&x=1&email=ada@example.com#top'
    const page = await site.open(url, { path, context, recovers: true, tag: 'data-analytics-user-id="ph-1"' })
    const events = await site.drained(url, page)
    expect(events.map(({ event }) => event).sort()).toEqual(['first_visit', 'page_view'])
    const [view] = site.events(url, 'page_view')
    const redacted = `${url}/a/b?utm_source=news&utm_campaign=May+sale%21&x=1&email=redacted#top`
    expect(view).toEqual({
      event_id: expect.stringMatching(UUID),
      event: 'page_view',
      timestamp: expect.stringMatching(/^20.*Z$/),
      url: redacted,
      title: 'Shop',
      data: { path: '/a/b', utm_source: 'news', utm_campaign: 'May sale!', load_time: expect.any(Number) },
    })
    const [request] = site.requests(url)
    expect(request?.headers['content-type']).toBe('text/plain;charset=UTF-8')
    expect(request?.body).toMatchObject({
      visitor_id: expect.stringMatching(UUID),
      context: { language: 'de-DE', timezone: 'Europe/Berlin', referrer: '', analytics_user_id: 'ph-1' },
      sent_at: expect.stringMatching(/Z$/),
    })
    expect(request?.body.context.screen).toMatch(/^\d+x\d+$/)
    expect(request?.body.context.viewport).toBe('1280x720')
    const { body } = await tenant.call('GET', '/v1/events?event_type=page_view')
    expect(body.events[0]).toMatchObject({ url: redacted, data: { title: 'Shop', path: '/a/b' }, browser: 'Chrome' })
    await page.reload()
    await site.arrived(url, 'page_view', 2)
    await site.arrived(url, 'page_leave')
    await site.drained(url, page)
    expect(site.names(url, 'first_visit')).toHaveLength(1)
    // Two views, two leaves, one visitor and one session.
    expect(site.names(url, 'page_leave')).toHaveLength(1)
    expect(new Set(site.requests(url).map(({ body }) => body.visitor_id)).size).toBe(1)
    const sessions = new Set(
      (await tenant.call('GET', '/v1/events')).body.events.map((event: { session_id: string }) => event.session_id),
    )
    expect(sessions.size).toBe(1)
  })

  test.each([
    ['another site', 'off'],
    ['another site', 'on'],
    ['the same site', 'off'],
  ])(
    'a visit that leaves its first page before the tracker host on %s has responded is one session (fingerprint %s)',
    async (where, fingerprint) => {
      const { url, tenant } = await site.host()
      const tag = `data-fingerprint="${fingerprint}" data-collect="${where === 'another site' ? site.tracker : site.trackerBeside(url)}/track"`
      for (const path of ['/', '/two']) site.pages[url + path] = site.html({ tag })
      const page = await openTab()
      let respond = () => {}
      site.responseGate = new Promise<void>((resolve) => {
        respond = resolve
      })
      onTestFinished(() => {
        site.responseGate = null
        respond()
      })
      await page.goto(url)
      await page.waitForFunction(() => 'optOut' in (window as unknown as { service: object }).service)
      await page.goto(`${url}/two`)
      await site.arrived(url, 'page_leave')
      site.responseGate = null
      respond()
      await site.arrived(url, 'page_view', 2)
      await site.drained(url, page)
      const { events } = (await tenant.call('GET', '/v1/events')).body
      expect(events.length).toBeGreaterThanOrEqual(5)
      expect(new Set(events.map(({ session_id }: { session_id: string }) => session_id)).size).toBe(1)
      const { service_session_id: session } = await cookiesOf(page)
      // Browsers keep no SameSite=Strict cookie of another site.
      expect(session?.value).toBe(where === 'another site' ? undefined : events[0].session_id)
    },
  )

  test('with storage blocked, each page is one session', async () => {
    const { url, tenant } = await site.host()
    const before = () => {
      const blocked = () => {
        throw new DOMException('The operation is insecure.', 'SecurityError')
      }
      Object.defineProperty(window, 'localStorage', { get: blocked })
      Object.defineProperty(document, 'cookie', { get: blocked, set: blocked })
    }
    const page = await site.open(url, { before, recovers: true })
    await site.drained(url, page)
    await site.drained(url, page)
    const { events } = (await tenant.call('GET', '/v1/events')).body
    expect(site.requests(url).length).toBeGreaterThan(1)
    expect(new Set(events.map(({ session_id }: { session_id: string }) => session_id)).size).toBe(1)
  })

  test('a visit to two subdomains of one site is one session', async () => {
    const { url, tenant } = await site.host()
    const other = url.replace('//', '//shop.')
    const tag = `data-collect="${site.trackerBeside(url)}/track"`
    const page = await site.open(url, { tag })
    await site.drained(url, page)
    site.pages[`${other}/`] = site.html({ tag })
    await page.goto(`${other}/`)
    await site.arrived(other, 'page_view')
    const { events } = (await tenant.call('GET', '/v1/events')).body
    expect(new Set(events.map(({ domain }: { domain: string }) => domain)).size).toBe(2)
    expect(new Set(events.map(({ session_id }: { session_id: string }) => session_id)).size).toBe(1)
  })

  test('a page that never finishes loading still has a page view', async () => {
    const { url } = await site.host()
    const page = await openTab()
    await page.route('**/never.png', () => {})
    site.pages[`${url}/slow`] = site.html({ body: '<img src="/never.png">' })
    await page.goto(`${url}/slow`, { waitUntil: 'commit' })
    const [view] = await site.arrived(url, 'page_view')
    expect(view.data.load_time).toBeGreaterThan(0)
  })

  test('a site may serve the script itself: events go to the path beside it or to data-collect', async () => {
    const { url } = await site.host()
    site.files['/own/tracker.js'] = [
      'text/javascript',
      Buffer.from(await (await fetch(`${site.tracker}/tracker.js`)).arrayBuffer()),
    ]
    const tag = (more: string) =>
      `<title>Own</title><link rel="icon" href="data:,"><script async src="/own/tracker.js" ${more}></script>`
    site.pages[`${url}/beside`] = tag('data-fingerprint="off"')
    site.pages[`${url}/elsewhere`] = tag(`data-collect="${site.tracker}/track"`)
    const page = await openTab()
    const beside = page.waitForRequest(`${url}/own/track`)
    await page.goto(`${url}/beside`)
    expect((await beside).postDataJSON().events[0].title).toBe('Own')
    expect(site.requests(url)).toEqual([])
    await page.context().clearCookies()
    await page.goto(`${url}/elsewhere`)
    await site.arrived(url, 'page_view')
    expect(site.requests(url, '/recover-visitor')).toHaveLength(1)
  })

  test.each([
    ['with the Navigation API', undefined],
    ['without it', () => Reflect.deleteProperty(window, 'navigation')],
  ])('single-page route changes are page views, %s', async (_name, before) => {
    const { url } = await site.host()
    const page = await site.open(url, { path: '/start', ...(before ? { before } : {}) })
    const go = async (move: () => void, count: number) => {
      await page.evaluate(move)
      await site.arrived(url, 'page_view', count)
    }
    await go(() => {
      history.pushState({}, '', '/cart')
      document.title = 'Cart'
    }, 2)
    await go(() => history.pushState({}, '', '/cart?page=2'), 3)
    await go(() => history.replaceState({}, '', '/pay'), 4)
    await go(() => history.back(), 5)
    await go(() => {
      location.hash = '#/route/1'
    }, 6)
    await go(() => {
      location.hash = '#!/route/2'
    }, 7)
    // None of these starts a page view.
    await page.evaluate(() => {
      history.pushState({ state: 1 }, '')
      location.hash = '#anchor-not-a-route'
    })
    await page.waitForFunction(() => location.hash === '#anchor-not-a-route')
    await site.arrived(url, 'page_view', 8)
    await site.drained(url, page)
    const views = site.events(url, 'page_view')
    expect(views.slice(0, 7).map(({ data }) => data.path)).toEqual([
      '/start',
      '/cart',
      '/cart',
      '/pay',
      '/cart',
      '/cart#/route/1',
      '/cart#!/route/2',
    ])
    expect(views[1]).toMatchObject({ title: 'Cart', url: `${url}/cart`, referrer: `${url}/start` })
    expect(views[1].data).not.toHaveProperty('load_time')
    const leaves = site.events(url, 'page_leave')
    expect(leaves.slice(0, 3).map((leave) => [leave.url, leave.title])).toEqual([
      [`${url}/start`, 'Shop'],
      [`${url}/cart`, 'Cart'],
      [`${url}/cart?page=2`, 'Cart'],
    ])
    // Going back to a fragment that is not a route gives the path without it.
    expect(views.slice(7).map(({ data }) => data.path)).toEqual(['/cart'])
  })
})
