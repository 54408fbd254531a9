import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { cookiesOf, useSite } from './site.ts'
import { openTab, openWindow } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  const stored = (page: Page) => page.evaluate(() => Object.keys(localStorage))
  /** Opens a page that must send nothing, acts on it and leaves it. @returns what it sent anyway. */
  async function silent(url: string, options: Parameters<typeof site.open>[1]) {
    const page = await site.open(url, { quiet: true, recovers: true, body: '<button>Go</button>', ...options })
    await page.waitForFunction(() => 'optOut' in (window as unknown as Global).service)
    await page.click('button')
    await page.evaluate(() => (window as unknown as Global).service.track?.('custom'))
    const kept = { cookies: Object.keys(await cookiesOf(page)), stored: await stored(page) }
    await page.goto('about:blank')
    await site.settled()
    return { page, kept, requests: site.sent.filter(({ origin }) => origin === url) }
  }

  test('service_dnt=1 stops everything before anything is set or sent', async () => {
    const { url } = await site.host()
    const page = await openTab()
    await page.context().addCookies([{ name: 'service_dnt', value: '1', url }])
    const { kept, requests } = await silent(url, { page })
    expect(requests).toEqual([])
    expect(kept).toEqual({ cookies: ['service_dnt'], stored: [] })
  })

  test('Global Privacy Control is honored by default and can be turned off', async () => {
    const gpc = () => Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => true })
    const { url } = await site.host()
    const { kept, requests } = await silent(url, { before: gpc })
    expect([requests, kept]).toEqual([[], { cookies: [], stored: [] }])
    const other = await site.host()
    await site.open(other.url, { before: gpc, tag: 'data-gpc="off"' })
    expect(site.names(other.url)).toContain('page_view')
  })

  test('Do Not Track is honored if the option is on', async () => {
    const dnt = () => Object.defineProperty(navigator, 'doNotTrack', { get: () => '1' })
    const { url } = await site.host()
    expect((await silent(url, { before: dnt, tag: 'data-dnt="on"' })).requests).toEqual([])
    const other = await site.host()
    await site.open(other.url, { before: dnt })
    expect(site.names(other.url)).toContain('page_view')
  })

  test('if consent is required, nothing is stored or sent until it is given; then queued commands are sent', async () => {
    const { url } = await site.host()
    const { page, kept, requests } = await silent(url, { tag: 'data-consent="required"' })
    expect([requests, kept]).toEqual([[], { cookies: [], stored: [] }])
    await page.goto(`${url}/`)
    await page.waitForFunction(() => 'optOut' in (window as unknown as Global).service)
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      service.track?.('waits')
      service.consent?.(true)
    })
    await site.arrived(url, 'waits')
    await site.arrived(url, 'page_view')
    expect(Object.keys(await cookiesOf(page))).toContain('service_visitor_id')
    await page.evaluate(() => (window as unknown as Global).service.consent?.(false))
    expect(await stored(page)).toEqual([])
    expect(Object.keys(await cookiesOf(page))).not.toContain('service_visitor_id')
    const before = site.requests(url).length
    await page.evaluate(() => (window as unknown as Global).service.track?.('refused'))
    await page.goto('about:blank')
    await site.settled()
    expect(site.requests(url)).toHaveLength(before)
  })

  test('optOut forgets the visitor and is remembered', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    // A response that is still in flight must not store anything.
    let release = () => {}
    const optedOut = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`${site.tracker}/track`, async (route) => {
      await optedOut
      await route.continue()
    })
    const isUnderWay = (request: { postData(): string | null }) => request.postData()?.includes('under_way') ?? false
    const underWay = page.waitForRequest(isUnderWay)
    await page.evaluate(() => (window as unknown as Global).service.track?.('under_way'))
    await underWay
    const finished = page.waitForEvent('requestfinished', isUnderWay)
    await page.evaluate(() => (window as unknown as Global).service.optOut?.())
    release()
    await finished
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)))
    expect(
      Object.keys(await cookiesOf(page)).filter((name) => name.startsWith('service_') && name !== 'service_session_id'),
    ).toEqual(['service_dnt'])
    expect(await stored(page)).toEqual([])
    await silent(url, { page })
    expect(site.names(url)).not.toContain('custom')
  })

  test('a visitor who opts out during recovery stays forgotten', async () => {
    const { url } = await site.host()
    const page = await openTab()
    let release = () => {}
    const optedOut = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`${site.tracker}/recover-visitor`, async (route) => {
      await optedOut
      await route.continue()
    })
    const isAsked = (request: { url(): string }) => request.url().endsWith('/recover-visitor')
    const asked = page.waitForEvent('request', isAsked)
    await site.open(url, { page, quiet: true, recovers: true })
    await asked
    await page.evaluate(() => (window as unknown as Global).service.optOut?.())
    const finished = page.waitForEvent('requestfinished', isAsked)
    release()
    await finished
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)))
    expect(Object.keys(await cookiesOf(page))).toEqual(['service_dnt'])
    expect(site.requests(url)).toEqual([])
  })

  test('beforeSend changes or drops an event; if it throws, the event is dropped', async () => {
    const { url } = await site.host()
    const head = `<script>
      function check(event) {
        if (event.event === 'drop') return null
        if (event.event === 'broken') throw new Error('in the check')
        event.data.seen = true
        return event
      }</script>`
    const page = await site.open(url, { head, tag: 'data-before-send="check"' })
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      for (const name of ['drop', 'broken', 'kept']) service.track?.(name)
    })
    const events = await site.drained(url, page)
    expect(events.map(({ event }) => event)).not.toEqual(expect.arrayContaining(['drop']))
    expect(events.map(({ event }) => event)).not.toEqual(expect.arrayContaining(['broken']))
    expect(site.events(url, 'kept')[0].data).toEqual({ seen: true })
  })

  test('URLs are redacted in query and fragment, also by configured names; excluded events are not captured', async () => {
    const { url } = await site.host()
    const page = await site.open(url, {
      path: '/p?password=x&Coupon=SUMMER&author=ada&q=1#access_token=abc&state=2',
      tag: 'data-redact="coupon" data-exclude="button_click first_visit"',
      body: '<button>Go</button>',
    })
    await page.click('button')
    const events = await site.drained(url, page)
    expect(events.map(({ event }) => event)).toEqual(['page_view'])
    expect(events[0].url).toBe(
      `${url}/p?password=redacted&Coupon=redacted&author=ada&q=1#access_token=redacted&state=2`,
    )
  })

  test('email addresses in URLs never leave the page, wherever they are and however they are encoded', async () => {
    const { url } = await site.host()
    const encodings = [
      'ada@example.com',
      'ada%40example%2Ecom',
      'ada%2540example%252ecom',
      'a.da%2Bx%40b%C3%BCcher.example',
    ]
    const query = encodings.map((address, index) => `q${index}=${address}`).join('&')
    const start = await site.open(url, {
      path: `/${encodings.join('/')}?${query}&utm_source=x%20ada%40example.com#to=ada@example.com`,
    })
    const body = `<script>addEventListener('click', (event) => event.preventDefault())</script>
      <a href="mailto:ada@example.com,bob@example.com">Write</a>
      <a href="/people/ada%40example.com">Ada</a>
      <a href="javascript:write('ada@example.com')">Script</a>
      <form action="/unsubscribe/ada@example.com"><button>Go</button></form>
      <a href="/@ada/vue@3.5.1/logo">Kept</a>`
    site.pages[`${url}/next`] = site.html({ body })
    await start.evaluate(() => history.pushState(null, '', '/route/ada@example.com#/ada%40example.com'))
    await site.arrived(url, 'page_view', 2)
    await start.evaluate(() => {
      location.href = '/next?to=ada@example.com'
    })
    await site.arrived(url, 'page_view', 3)
    for (const text of ['Write', 'Ada', 'Script', 'Kept']) await start.click(`text=${text}`)
    await start.click('button')
    await start.evaluate(() => document.forms[0]?.dispatchEvent(new Event('submit')))
    // Restored from the back-forward cache, the page sends its referrer again.
    await start.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await site.arrived(url, 'page_view', 4)
    await site.drained(url, start)
    const urls = new Set(['q1=redacted', '/redacted/redacted/redacted/redacted', 'mailto:redacted', '/people/redacted'])
    const sent = JSON.stringify(site.requests(url).map(({ body }) => body))
    for (const part of urls) expect(sent).toContain(part)
    expect(sent).not.toMatch(/ada(@|%\d*40)|cher.example|bob/i)
    expect(sent).toContain('/@ada/vue@3.5.1/logo')
    expect(site.events(url, 'page_leave').map(({ data }) => data.path)).toEqual([
      '/redacted/redacted/redacted/redacted',
      '/route/redacted#/redacted',
    ])
    expect(site.events(url, 'form_submit')[0].data.action).toBe(`${url}/unsubscribe/redacted`)
    expect(site.events(url, 'page_view')[0].data.utm_source).toBe('redacted')
  })

  test('a visitor without a cookie is recovered by the fingerprint, unless the option is off', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { recovers: true })
    await site.arrived(url, 'first_visit')
    const [first] = site.requests(url, '/recover-visitor')
    expect(first?.body).toEqual({
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      visitor_id: expect.any(String),
    })
    const before = (await cookiesOf(page)).service_visitor_id?.value
    await page.context().clearCookies()
    await page.reload()
    await site.arrived(url, 'page_view', 2)
    await site.drained(url, page)
    expect((await cookiesOf(page)).service_visitor_id?.value).toBe(before)
    expect(site.names(url, 'first_visit')).toHaveLength(1)
    expect(site.requests(url, '/recover-visitor').map(({ body }) => body.fingerprint)).toEqual([
      first?.body.fingerprint,
      first?.body.fingerprint,
    ])
    // With a cookie, no fingerprint is computed.
    await page.reload()
    await site.arrived(url, 'page_view', 3)
    expect(site.requests(url, '/recover-visitor')).toHaveLength(2)
    const other = await site.host()
    await site.open(other.url, { tag: 'data-fingerprint="off"', recovers: true })
    await site.arrived(other.url, 'first_visit')
    expect(site.requests(other.url, '/recover-visitor')).toEqual([])
  })

  test('what is sent of the fingerprint is its SHA-256; without HTTPS, browsers have none, and nothing is sent', async () => {
    const { url } = await site.host()
    const record = () => {
      const digest = crypto.subtle.digest.bind(crypto.subtle)
      crypto.subtle.digest = (name, data) => {
        Object.assign(window, { digested: new TextDecoder().decode(data as Uint8Array) })
        return digest(name, data)
      }
    }
    const page = await site.open(url, { before: record, recovers: true })
    const digested = await page.evaluate(() => (window as unknown as { digested: string }).digested)
    const hash = createHash('sha256').update(digested).digest('hex')
    expect(site.requests(url, '/recover-visitor').map(({ body }) => body.fingerprint)).toEqual([hash])
    const other = await site.host()
    await site.open(other.url, {
      before: () => Object.defineProperty(crypto, 'subtle', { value: undefined }),
      recovers: true,
    })
    await site.arrived(other.url, 'first_visit')
    expect(site.requests(other.url, '/recover-visitor')).toEqual([])
  })

  test('cookies are SameSite=Strict, and Secure on HTTPS; data-cookie-domain shares the visitor among subdomains', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { tag: `data-cookie-domain="${new URL(url).hostname}"` })
    await site.drained(url, page)
    expect((await cookiesOf(page)).service_visitor_id).toMatchObject({
      domain: `.${new URL(url).hostname}`,
      path: '/',
      sameSite: 'Strict',
      secure: false,
      httpOnly: false,
    })
  })

  test.skipIf(!existsSync('/usr/bin/openssl'))('cookies are Secure on a page over HTTPS', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cds-tls-'))
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const subject = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'
    spawnSync('openssl', ['req', ...subject.split(' '), '-keyout', key, '-out', cert])
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) =>
      site.servePage(request, response, 'https'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as { port: number }
      const { hostname } = new URL((await site.host()).url)
      const url = `https://${hostname}:${port}`
      const context = await openWindow({ ignoreHTTPSErrors: true })
      const page = await site.open(url, { context, recovers: true })
      await site.drained(url, page)
      expect((await cookiesOf(page)).service_visitor_id).toMatchObject({ secure: true, sameSite: 'Strict' })
    } finally {
      server.closeAllConnections()
      server.close()
      rmSync(directory, { recursive: true })
    }
  })

  test('two tabs are one visitor', async () => {
    const { url, tenant } = await site.host()
    const [one, two] = await Promise.all([
      site.open(url, { recovers: true }),
      site.open(url, { recovers: true, path: '/two' }),
    ])
    await site.drained(url, one)
    await site.drained(url, two)
    const { body } = await tenant.call('GET', '/v1/events?limit=100')
    const visitors = new Set(body.events.map((event: { visitor_id: string }) => event.visitor_id))
    expect(visitors.size).toBe(1)
    expect(site.names(url, 'page_view')).toHaveLength(2)
  })
})
