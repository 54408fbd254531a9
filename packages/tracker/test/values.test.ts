import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { consoleOf, cookiesOf, dataOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

/** The service's words of ids that name nobody, as far as a visitor's id can have their characters. */
const NOBODY = [
  'undefined', 'null', 'nil', 'None', 'NaN', 'true', 'FALSE', 'anonymous', 'guest', 'Unknown', 'not_set', 'not-set',
  '0', '-0', '0.0', '-1', '-1.0', '00000000-0000-0000-0000-000000000000', '00000000000000000000000000000000',
] // biome-ignore format: a list

/** Whatever pages pass to the commands. */
describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  test('traits that come first are traits, as other trackers take them, and not a user id', async () => {
    const { url, tenant } = await site.host()
    const head =
      "<script>window.service=window.service||[];service.push(['identify',{email:'ann@shop.example'}])</script>"
    const page = await site.open(url, { head })
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      service.identify?.({ email: 'ann@shop.example', firstName: 'Ann' }, { userHash: 'abc' })
    })
    await site.drained(url, page)
    expect(site.identifications(url).map(({ identify, user_hash }) => ({ identify, user_hash }))).toEqual([
      { identify: { traits: { email: 'ann@shop.example' } }, user_hash: undefined },
      { identify: { traits: { email: 'ann@shop.example', firstName: 'Ann' } }, user_hash: 'abc' },
    ])
    const { body } = await tenant.call('GET', '/v1/contacts?search=ann@shop.example')
    expect(body.contacts[0].properties).toMatchObject({ email: 'ann@shop.example', firstname: 'Ann' })
  })

  test('what is neither a string nor a number is never made into an id: it is left out with a warning, and the traits count', async () => {
    const { url } = await site.host()
    const page = await openTab()
    const said = consoleOf(page)
    const head = "<script>service.push(['configure', { analyticsUserId: { id: 1 } }])</script>"
    site.pages[`${url}/`] = site.html({ head })
    await page.goto(url)
    await site.arrived(url, 'page_view')
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      const ids = [{ id: 7 }, Promise.resolve('u'), () => 'u', Symbol('u'), Number.NaN, true, ['u'], new Date(0)]
      for (const [index, id] of ids.entries()) service.identify?.(id, { email: `bad${index}@shop.example` })
      const good = [42, ' u1 ', 1.5, 0]
      for (const [index, id] of good.entries()) service.identify?.(id, { email: `good${index}@shop.example` })
      // Rounded already: another person's id may be the same number.
      service.identify?.(2 ** 53, { email: 'unsafe@shop.example' })
      service.track?.({ event: 'object' })
      service.track?.(Symbol('event'))
    })
    await site.drained(url, page)
    const sent = site.identifications(url).map(({ identify }) => identify)
    expect(sent.slice(0, 8).map(({ traits }) => traits.email)).toEqual(
      Array.from({ length: 8 }, (_, index) => `bad${index}@shop.example`),
    )
    expect(sent.slice(0, 8).filter((identify) => 'external_user_id' in identify)).toEqual([])
    expect(sent.slice(8).map(({ external_user_id }) => external_user_id)).toEqual(['42', 'u1', '1.5', '0', undefined])
    expect(said.filter((line) => line === 'service: id is not a string')).toHaveLength(1)
    for (const name of ['event', 'analyticsUserId'])
      expect(said.filter((line) => line === `service: ${name} is not a string`)).toHaveLength(1)
    expect(site.names(url).filter((name) => /object|Symbol/.test(name))).toEqual([])
    expect(JSON.stringify(site.requests(url))).not.toContain('[object')
  })

  test('a word that only begins or ends like one that names nobody is an id', async () => {
    const { url } = await site.host()
    const page = await openTab()
    const cookies = (value: string) =>
      ['service_visitor_id', 'service_external_contact_id'].map((name) => ({ name, value, url }))
    await page.context().addCookies(cookies('guest-7'))
    await site.open(url, { page })
    for (const value of ['-12', '1']) {
      await page.context().addCookies(cookies(value))
      await site.drained(url, page)
    }
    const ids = site.requests(url).map(({ body }) => [body.visitor_id, body.external_contact_id].join())
    expect([...new Set(ids)]).toEqual(['guest-7,guest-7', '-12,-12', '1,1'])
  })

  test('a cookie that holds a word for nobody counts as absent, whenever it is set', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    await site.drained(url, page)
    const visitor = site.requests(url)[0]?.body.visitor_id
    await page.evaluate((words) => {
      for (const word of words) {
        // biome-ignore-start lint/suspicious/noDocumentCookie: as a host application would
        document.cookie = `service_visitor_id=${word}; Path=/`
        document.cookie = `service_external_contact_id=${word}; Path=/`
        // biome-ignore-end lint/suspicious/noDocumentCookie: as a host application would
        ;(window as unknown as Global).service.track?.(`holds ${word}`)
      }
    }, NOBODY)
    await site.drained(url, page)
    expect(site.names(url)).toEqual(expect.arrayContaining(NOBODY.map((word) => `holds ${word}`)))
    const bodies = site.requests(url).map(({ body }) => body)
    expect(new Set(bodies.map(({ visitor_id }) => visitor_id))).toEqual(new Set([visitor]))
    expect(bodies.filter((body) => 'external_contact_id' in body)).toEqual([])
  })

  test('an id that is too long is not cut, because two could become one: it is left out, and the traits count', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url)
    const said = consoleOf(page)
    const longest = `${'\u{1f600}'.repeat(199)}b`
    await page.evaluate((id) => {
      const { service } = window as unknown as Global
      service.identify?.(`${'a'.repeat(200)}1`, { email: 'ann@shop.example' })
      service.reset?.()
      service.identify?.(`${'a'.repeat(200)}2`, { email: 'bob@shop.example' })
      service.reset?.()
      service.identify?.(id, { email: 'cy@shop.example' })
    }, longest)
    await site.drained(url, page)
    expect(site.identifications(url).map(({ identify }) => identify)).toEqual([
      { traits: { email: 'ann@shop.example' } },
      { traits: { email: 'bob@shop.example' } },
      { external_user_id: longest, traits: { email: 'cy@shop.example' } },
    ])
    expect(said).toEqual(['service: id is too long'])
    const { body } = await tenant.call('GET', '/v1/contacts?search=shop.example')
    const emails = body.contacts.map(({ properties }: { properties: { email: string } }) => properties.email)
    expect(emails.sort()).toEqual(['ann@shop.example', 'bob@shop.example', 'cy@shop.example'])
  })

  test('an external contact id that is too long is not sent, and the events arrive', async () => {
    const { url } = await site.host()
    const page = await openTab()
    await page.context().addCookies([{ name: 'service_external_contact_id', value: 'a'.repeat(201), url }])
    const said = consoleOf(page)
    site.pages[`${url}/`] = site.html({})
    await page.goto(url)
    await site.drained(url, page)
    expect(site.names(url)).toContain('page_view')
    expect(site.requests(url).filter(({ body }) => 'external_contact_id' in body)).toEqual([])
    expect(said).toEqual(['service: service_external_contact_id is too long'])
  })

  test('a first page whose cookies name nobody has a new visitor', async () => {
    const { url } = await site.host()
    const page = await openTab()
    const names = ['service_visitor_id', 'service_external_contact_id']
    await page.context().addCookies(names.map((name) => ({ name, value: 'undefined', url })))
    await site.open(url, { page })
    await site.drained(url, page)
    const bodies = site.requests(url).map(({ body }) => body)
    expect(new Set(bodies.map(({ visitor_id }) => visitor_id)).size).toBe(1)
    expect(bodies[0].visitor_id).toMatch(/^[\da-f]{8}-.*7/)
    expect(bodies.filter((body) => 'external_contact_id' in body)).toEqual([])
    expect((await cookiesOf(page)).service_visitor_id?.value).toBe(bodies[0].visitor_id)
  })

  test('what is not data is left out alone, the console names it, and the event arrives', async () => {
    const { url } = await site.host()
    const page = await site.open(url, { body: '<iframe src="about:blank"></iframe><p>Text</p>' })
    const said = consoleOf(page)
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      service.track?.('window', { view: window, ok: 1 })
      service.track?.('document', { page: document, node: document.querySelector('p'), frame: frames[0], ok: 1 })
      service.track?.('kinds', {
        fn() {},
        symbol: Symbol('s'),
        promise: Promise.resolve(1),
        map: new Map([[1, 2]]),
        set: new Set([1]),
        weak: new WeakMap(),
        bytes: new Uint8Array(1e7),
        pattern: /x/,
        event: new MouseEvent('click'),
        nested: { again: window, kept: [1, window, 2] },
        ok: 1,
      })
      service.track?.('whole', window)
      service.track?.('traps', {
        get bad() {
          throw new Error('never seen')
        },
        json: {
          toJSON() {
            throw new Error('never seen')
          },
        },
        again: { toJSON: () => ({ toJSON: () => ({ at: 'last' }) }) },
        proxy: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('never seen')
            },
          },
        ),
        link: new URL('https://shop.example/a'),
        big: 10n,
        ok: 1,
      })
      const forever: Record<string, unknown> = {}
      forever.toJSON = () => forever
      service.track?.('forever', { forever, ok: 1 })
      service.identify?.('u1', {
        email: 'odd@shop.example',
        view: window,
        get bad() {
          throw new Error('never seen')
        },
      })
    })
    const data = dataOf(await site.drained(url, page))
    expect(data).toMatchObject({ window: { ok: 1 }, document: { ok: 1 }, forever: { ok: 1 } })
    expect(data.window).toEqual({ ok: 1 })
    expect(data.document).toEqual({ ok: 1 })
    expect(data.kinds).toEqual({ nested: { kept: [1, null, 2] }, ok: 1 })
    expect(data.whole).toEqual({})
    expect(data.traps).toEqual({ again: { at: 'last' }, link: 'https://shop.example/a', big: 10, ok: 1 })
    expect(site.identifications(url)[0].identify).toEqual({
      external_user_id: 'u1',
      traits: { email: 'odd@shop.example' },
    })
    for (const name of ['view', 'page', 'node', 'frame', 'fn', 'symbol', 'promise', 'bytes', 'bad', 'proxy'])
      expect(said.filter((line) => line === `service: ${name} is not data`)).toHaveLength(1)
    expect(said.every((line) => line.startsWith('service: '))).toBe(true)
    expect(site.requests(url).map(({ status }) => status)).not.toContain(400)
  })

  test('the result of beforeSend goes through the same writer', async () => {
    const { url } = await site.host()
    const head = `<script>function check(event) {
      if (event.event === 'promise') return Promise.resolve(event)
      event.data.view = window
      event.data.lone = '\\ud800'
      return event
    }</script>`
    const page = await site.open(url, { head, tag: 'data-before-send="check"' })
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      service.track?.('kept', { ok: 1 })
      service.track?.('promise')
    })
    const data = dataOf(await site.drained(url, page))
    expect(data.kept).toEqual({ ok: 1, lone: '�' })
    expect(data).not.toHaveProperty('promise')
    expect(site.requests(url).map(({ status }) => status)).not.toContain(400)
  })
})
