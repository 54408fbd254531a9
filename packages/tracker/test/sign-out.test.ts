import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { cookiesOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> & { push(...commands: unknown[][]): void } }

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()
  afterEach(() => {
    site.fail = null
  })

  type Tenant = Awaited<ReturnType<typeof site.host>>['tenant']
  const push = (page: Page, ...commands: unknown[][]) =>
    page.evaluate((list) => (window as unknown as Global).service.push(...list), commands)
  const cookieOf = async (page: Page, name: string) => (await cookiesOf(page))[name]?.value
  const visitorOf = (page: Page) => cookieOf(page, 'service_visitor_id')
  /** The visitor and session of each event, as the service stored them. */
  const recorded = async (tenant: Tenant) => {
    const { body } = await tenant.call('GET', '/v1/events?limit=100')
    type Stored = { event: string; visitor_id: string; session_id: string; contact_id: string | null }
    return Object.fromEntries(body.events.map((event: Stored) => [event.event, event])) as Record<string, Stored>
  }
  const eventsOf = async (tenant: Tenant, email: string): Promise<string[]> => {
    const found = (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0]
    if (!found) return []
    const { body } = await tenant.call('GET', `/v1/contacts/${found.contact_id}?events_limit=50`)
    return body.events.map(({ event }: { event: string }) => event)
  }

  test('reset before the script has loaded ends the identification: later events belong to a new visitor and session', async () => {
    const { url, tenant } = await site.host()
    const head = `<script>
      service.push(['identify', 'u1', { email: 'u1@shop.example' }], ['track', 'before_logout'])
      service.push(['reset'])
      service.push(['track', 'after_logout', {}])
    </script>`
    const page = await site.open(url, { head, recovers: true })
    await site.drained(url, page)
    // What the old visitor did is sent first.
    expect(site.names(url).filter((name) => name.endsWith('_logout'))).toEqual(['before_logout', 'after_logout'])
    const { before_logout: before, after_logout: after } = await recorded(tenant)
    expect(after?.visitor_id).not.toBe(before?.visitor_id)
    expect(after?.session_id).not.toBe(before?.session_id)
    const events = await eventsOf(tenant, 'u1@shop.example')
    expect(events).toContain('before_logout')
    // The page was opened before the sign-out.
    expect(events).toContain('page_view')
    expect(events).not.toContain('after_logout')
    expect(await visitorOf(page)).toBe(after?.visitor_id)
  })

  test('after a reset, somebody else who signs in on the same computer is another contact, on the next page too', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url, { tag: `data-collect="${site.trackerBeside(url)}/track"` })
    await push(page, ['identify', 'u1', { email: 'ann@shop.example' }], ['track', 'of_ann'])
    await site.drained(url, page)
    const before = await visitorOf(page)
    const session = await cookieOf(page, 'service_session_id')
    await push(page, ['track', 'last_of_ann'], ['reset'], ['track', 'of_nobody'])
    await site.arrived(url, 'of_nobody')
    const after = await visitorOf(page)
    expect(after).not.toBe(before)
    await page.reload()
    await site.arrived(url, 'page_view', 2)
    await push(page, ['identify', 'u2', { email: 'bob@shop.example' }], ['track', 'of_bob'])
    await site.drained(url, page)
    expect(await visitorOf(page)).toBe(after)
    const stored = await recorded(tenant)
    expect(stored.last_of_ann?.session_id).toBe(session)
    expect(stored.of_nobody?.session_id).not.toBe(session)
    // One session from the sign-out on, also in the service's cookie.
    expect(stored.of_bob?.session_id).toBe(stored.of_nobody?.session_id)
    expect(await cookieOf(page, 'service_session_id')).toBe(stored.of_bob?.session_id)
    const ofAnn = await eventsOf(tenant, 'ann@shop.example')
    const ofBob = await eventsOf(tenant, 'bob@shop.example')
    expect(ofAnn).toEqual(expect.arrayContaining(['of_ann', 'last_of_ann']))
    expect(ofBob).toEqual(expect.arrayContaining(['of_nobody', 'of_bob']))
    expect(ofAnn.filter((name) => ['of_nobody', 'of_bob'].includes(name))).toEqual([])
    expect(ofBob.filter((name) => ['of_ann', 'last_of_ann'].includes(name))).toEqual([])
  })

  test('events that wait offline keep their visitor over a reset and the next page', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url)
    await push(page, ['identify', 'u1', { email: 'cem@shop.example' }])
    await site.drained(url, page)
    const before = await visitorOf(page)
    const context = page.context()
    await context.setOffline(true)
    await push(page, ['track', 'offline_before'], ['reset'], ['track', 'offline_after'])
    await page.waitForFunction(() => localStorage.getItem('service_queue')?.includes('offline_after'))
    const after = await visitorOf(page)
    await page.goto('about:blank')
    await context.setOffline(false)
    await site.open(url, { page })
    await site.arrived(url, 'offline_after')
    await site.drained(url, page)
    const stored = await recorded(tenant)
    expect(stored.offline_before?.visitor_id).toBe(before)
    expect(stored.offline_after?.visitor_id).toBe(after)
    expect(stored.offline_before?.session_id).not.toBe(stored.offline_after?.session_id)
    expect(await eventsOf(tenant, 'cem@shop.example')).not.toContain('offline_after')
  })

  test('another tab continues as the new visitor in the new session', async () => {
    const { url, tenant } = await site.host()
    const [one, two] = await Promise.all([site.open(url), site.open(url, { path: '/two' })])
    await push(one, ['identify', 'u1', { email: 'dan@shop.example' }])
    await site.drained(url, one)
    // The second tab's response to an event from before arrives after the sign-out.
    let release = () => {}
    site.responseGate = new Promise<void>((resolve) => {
      release = resolve
    })
    await push(two, ['track', 'two_before'])
    await site.until(() => JSON.stringify(site.requests(url)).includes('two_before'))
    await push(one, ['reset'])
    const after = await visitorOf(one)
    site.responseGate = null
    release()
    await site.arrived(url, 'two_before')
    await push(two, ['track', 'two_after'])
    await push(one, ['track', 'one_after'])
    await site.drained(url, two)
    await site.drained(url, one)
    const stored = await recorded(tenant)
    expect(stored.two_before?.visitor_id).not.toBe(after)
    expect([stored.two_after?.visitor_id, stored.one_after?.visitor_id]).toEqual([after, after])
    expect(stored.two_after?.session_id).toBe(stored.one_after?.session_id)
    expect(stored.two_after?.session_id).not.toBe(stored.two_before?.session_id)
    expect(await eventsOf(tenant, 'dan@shop.example')).not.toContain('two_after')
  })

  test('a reset while the visitor is being recovered keeps what came before apart from what comes after', async () => {
    const { url, tenant } = await site.host()
    const page = await openTab()
    let release = () => {}
    const wasReset = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`${site.tracker}/recover-visitor`, async (route) => {
      await wasReset
      await route.continue()
    })
    const asked = page.waitForEvent('request', (request) => request.url().endsWith('/recover-visitor'))
    await site.open(url, { page, quiet: true, recovers: true })
    await asked
    await push(
      page,
      ['identify', 'u1', { email: 'eve@shop.example' }],
      ['track', 'early'],
      ['reset'],
      ['track', 'late'],
    )
    release()
    await site.arrived(url, 'late')
    await site.drained(url, page)
    const { early, late } = await recorded(tenant)
    expect(early?.visitor_id).not.toBe(late?.visitor_id)
    expect(await visitorOf(page)).toBe(late?.visitor_id)
    expect(await eventsOf(tenant, 'eve@shop.example')).not.toContain('late')
  })

  test('after a reset, the fingerprint does not bring the old visitor back when the cookie is lost', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url, { recovers: true })
    await push(page, ['identify', 'u1', { email: 'fay@shop.example' }], ['track', 'of_fay'])
    await site.drained(url, page)
    const before = await visitorOf(page)
    await push(page, ['reset'])
    await site.drained(url, page)
    const asked = site.requests(url, '/recover-visitor').length
    await page.context().clearCookies()
    await page.reload()
    await site.arrived(url, 'page_view', 2)
    await push(page, ['track', 'of_somebody'])
    await site.drained(url, page)
    expect(site.requests(url, '/recover-visitor')).toHaveLength(asked)
    expect(await visitorOf(page)).not.toBe(before)
    expect((await recorded(tenant)).of_somebody?.visitor_id).not.toBe(before)
    expect(await eventsOf(tenant, 'fay@shop.example')).not.toContain('of_somebody')
  })

  test.each(['', '; Domain=DOMAIN'])('reset deletes the external contact id, set with "%s"', async (attributes) => {
    const { url, tenant } = await site.host()
    const { hostname } = new URL(url)
    const page = await site.open(url.replace('//', '//shop.'))
    const there = url.replace('//', '//shop.')
    await page.evaluate(
      (cookie) => {
        // biome-ignore lint/suspicious/noDocumentCookie: as a host application would
        document.cookie = cookie
      },
      `service_external_contact_id=crm-1; Path=/${attributes.replace('DOMAIN', hostname)}`,
    )
    await push(page, ['track', 'signed_in'])
    await site.arrived(there, 'signed_in')
    await push(page, ['reset'], ['track', 'signed_out'])
    await site.drained(there, page)
    expect(await cookieOf(page, 'service_external_contact_id')).toBeUndefined()
    const bodyOf = (name: string) =>
      site.requests(there).find(({ body }) => body.events.some(({ event }: { event: string }) => event === name))?.body
    expect(bodyOf('signed_in').external_contact_id).toBe('crm-1')
    expect(bodyOf('signed_out')).not.toHaveProperty('external_contact_id')
    expect((await recorded(tenant)).signed_out?.visitor_id).not.toBe(bodyOf('signed_in').visitor_id)
  })

  test.each([
    ['the page set it without a path', '/shop/account/home', '', '/shop/account'],
    ['it is set for the page alone', '/shop/account/home', '; Path=/shop/account/home', '/shop/account/home'],
    ['it is set for a folder', '/shop/account/', '; Path=/shop/', '/shop/'],
  ])('reset deletes the external contact id where %s', async (_name, path, attributes, cookiePath) => {
    const { url } = await site.host()
    const page = await site.open(url, { path })
    const set = () =>
      page.evaluate((cookie) => {
        // biome-ignore lint/suspicious/noDocumentCookie: as a host application would
        document.cookie = cookie
      }, `service_external_contact_id=crm-1${attributes}`)
    const stored = async () =>
      (await page.context().cookies(url + path)).filter(({ name }) => name === 'service_external_contact_id')
    await set()
    expect((await stored()).map((cookie) => cookie.path)).toEqual([cookiePath])
    await push(page, ['reset'], ['track', 'signed_out'])
    await site.arrived(url, 'signed_out')
    expect(await stored()).toEqual([])
    // What the application sets from now on counts, even if it is the same person.
    await set()
    await push(page, ['track', 'signed_in'])
    await site.arrived(url, 'signed_in')
    await push(page, ['reset'], ['track', 'out_again'])
    await site.arrived(url, 'out_again')
    const idOf = (name: string) =>
      site.requests(url).find(({ body }) => body.events.some(({ event }: { event: string }) => event === name))?.body
        .external_contact_id
    expect([idOf('signed_out'), idOf('signed_in'), idOf('out_again')]).toEqual([undefined, 'crm-1', undefined])
  })

  test('the next person is not linked to who signed out, where the server set the cookie without a path', async () => {
    const { url, tenant } = await site.host()
    await tenant.call('POST', '/v1/identify', { user_id: 'u1', email: 'gil@shop.example' })
    site.headers['/account/login'] = { 'set-cookie': 'service_external_contact_id=u1' }
    const page = await site.open(url, { path: '/account/login' })
    await push(page, ['track', 'of_gil'])
    await site.drained(url, page)
    await push(page, ['reset'], ['track', 'of_nobody'])
    await site.drained(url, page)
    const events = await eventsOf(tenant, 'gil@shop.example')
    expect(events).toContain('of_gil')
    expect(events).not.toContain('of_nobody')
  })

  test('after a reset, events have no id that another analytics tool gave to the old person', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { tag: 'data-analytics-user-id="ph-old"' })
    await push(page, ['track', 'before'])
    await site.arrived(url, 'before')
    await push(page, ['reset'], ['track', 'after'])
    await site.arrived(url, 'after')
    const contextOf = (name: string) =>
      site.requests(url).find(({ body }) => body.events.some(({ event }: { event: string }) => event === name))?.body
        .context
    expect(contextOf('before').analytics_user_id).toBe('ph-old')
    expect(contextOf('after')).not.toHaveProperty('analytics_user_id')
    expect(contextOf('after').viewport).toBe(contextOf('before').viewport)
  })

  test('in a browser that opted out, reset does nothing', async () => {
    const { url } = await site.host()
    const page = await openTab()
    await page.context().addCookies([{ name: 'service_dnt', value: '1', url }])
    await site.open(url, { page, quiet: true, head: "<script>service.push(['reset'])</script>" })
    await page.waitForFunction(() => 'optOut' in (window as unknown as Global).service)
    await push(page, ['reset'], ['track', 'never'])
    await site.settled()
    expect(site.sent.filter(({ origin }) => origin === url)).toEqual([])
    expect(Object.keys(await cookiesOf(page))).toEqual(['service_dnt'])
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  })

  test('what names nobody and unknown commands say in the console what to call, once each, and never throw', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const said: string[] = []
    page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => said.push(error.message))
    for (let round = 0; round < 2; round++) {
      await push(
        page,
        ['identify', null],
        ['identify'],
        ['identify', null, {}],
        ['identify', undefined, { email: undefined }],
      )
      await push(page, ['logout'], ['logout'], ['page'])
    }
    await site.drained(url, page)
    expect(said.filter((line) => line.includes('names nobody'))).toHaveLength(1)
    expect(said.find((line) => line.includes('names nobody'))).toMatch(/^warning: service: .*service\.reset\(\)/)
    expect(said.filter((line) => line.includes('logout'))).toHaveLength(1)
    expect(said.find((line) => line.includes('logout'))).toMatch(/service\.reset\(\)/)
    expect(said).toHaveLength(3)
    expect(site.requests(url).filter(({ body }) => body.identify)).toEqual([])
  })
})
