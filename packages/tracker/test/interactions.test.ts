import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { dataOf, type Options, useSite } from './site.ts'

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  /** The events of a page except its page view. */
  async function captured(options: Options, act: (page: Page) => Promise<unknown>) {
    const { url } = await site.host()
    const page = await site.open(url, { tag: 'data-fingerprint="off"', ...options })
    await site.arrived(url, 'first_visit')
    await act(page)
    const events = await site.drained(url, page)
    return events
      .filter(({ event }) => !['page_view', 'first_visit', 'page_leave'].includes(event))
      .map(({ event, data }) => [event, data])
  }

  test('button_click: text, class and id, whichever descendant was clicked', async () => {
    const body = `
      <button id="buy" class="btn primary"><b>Buy</b> <span><i>now</i></span></button>
      <div role="button" aria-label="Close">x</div>
      <input type="submit" value="Send"><p id="text">no button</p>
      <button id="hidden-part">Pay <span data-service-ignore>ada@example.com</span></button>
      <div data-service-ignore><button id="secret">My secret</button></div>
      <button id="long">${'long '.repeat(100)}</button><textarea>typed</textarea>`
    const events = await captured({ body }, async (page) => {
      for (const target of [
        '#buy i',
        '[role=button]',
        '[type=submit]',
        '#text',
        '#hidden-part',
        '#secret',
        '#long',
        'textarea',
      ]) {
        await page.click(target, target === '#hidden-part' ? { position: { x: 8, y: 8 } } : {})
      }
      await page.click('#buy', { button: 'right' })
    })
    expect(events).toEqual([
      ['button_click', { text: 'Buy now', class: 'btn primary', id: 'buy' }],
      ['button_click', { text: 'Close' }],
      ['button_click', { text: 'Send' }],
      ['button_click', { text: 'Pay', id: 'hidden-part' }],
      ['button_click', { text: 'long '.repeat(40), id: 'long' }],
    ])
  })

  test('buttons in shadow roots count with slotted labels, and stopPropagation hides nothing', async () => {
    const body = `<my-button id="host">Order</my-button><button id="stops" onclick="event.stopPropagation()">Stop</button>
      <script>customElements.define('my-button', class extends HTMLElement {
        constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML =
          '<button id="inner"><slot></slot></button><form id="sf" action="/s"><input name="q"></form>'
          this.shadowRoot.querySelector('form').onsubmit = (event) => event.preventDefault() }
      })</script>`
    const events = await captured({ body }, async (page) => {
      await page.click('#host button')
      await page.click('#stops')
      await page.click('#host input')
      await page.keyboard.press('Enter')
    })
    expect(events).toEqual([
      ['button_click', { text: 'Order', id: 'inner' }],
      ['button_click', { text: 'Stop', id: 'stops' }],
      ['form_submit', { formId: 'sf', id: 'sf', action: expect.stringMatching(/\/s$/), method: 'get' }],
    ])
  })

  test('link_click: text, href, internal or external; a button inside a link is the button', async () => {
    const body = `<script>addEventListener('click', (event) => event.preventDefault())</script>
      <a id="in" class="nav" href="/pricing?token=abc&x=1">Our <em>prices</em></a>
      <a id="out" href="https://user:pw@other.example/a">Other</a> <a>no href</a>
      <a id="pic" href="/p"><img alt="A picture" src="data:,"></a>
      <svg width="20" height="20"><a id="svg" href="/svg"><rect width="20" height="20"/></a></svg>`
    const events = await captured({ body }, async (page) => {
      for (const target of ['#in em', '#out', 'text=no href', '#pic', '#svg']) await page.click(target, { force: true })
    })
    expect(events).toEqual([
      [
        'link_click',
        {
          text: 'Our prices',
          class: 'nav',
          id: 'in',
          href: expect.stringMatching(/\/pricing\?token=redacted&x=1$/),
          link_type: 'internal',
        },
      ],
      ['link_click', { text: 'Other', id: 'out', href: 'https://other.example/a', link_type: 'external' }],
      ['link_click', { text: 'A picture', id: 'pic', href: expect.stringMatching(/\/p$/), link_type: 'internal' }],
      ['link_click', { id: 'svg', href: expect.stringMatching(/^http.*\/svg$/), link_type: 'internal' }],
    ])
  })

  test('link_click: a link that opens no page has its scheme as link_type', async () => {
    const body = `<script>addEventListener('click', (event) => event.preventDefault())</script>
      <a id="mail" href="mailto:ada@example.com?cc=bob%40example.com&subject=Hi">Write</a>
      <a id="call" href="tel:+49301234">Call</a>
      <a id="script" href="javascript:void(0)">Menu</a>
      <a id="sms" href="sms:+49301234">Text</a>`
    const events = await captured({ body }, async (page) => {
      for (const target of ['#mail', '#call', '#script', '#sms']) await page.click(target)
    })
    expect(events).toEqual([
      [
        'link_click',
        { text: 'Write', id: 'mail', href: 'mailto:redacted?cc=redacted&subject=Hi', link_type: 'mailto' },
      ],
      ['link_click', { text: 'Call', id: 'call', href: 'tel:+49301234', link_type: 'tel' }],
      ['link_click', { text: 'Menu', id: 'script', href: 'javascript:void(0)', link_type: 'javascript' }],
      ['link_click', { text: 'Text', id: 'sms', href: 'sms:+49301234', link_type: 'sms' }],
    ])
  })

  test('form_submit: formId, action and method, never a value; Enter in a field is not a click', async () => {
    const body = `<script>addEventListener('submit', (event) => event.preventDefault())</script>
      <form id="login" class="f" action="/session?token=t" method="POST">
        <input name="id" value="field"><input name="action" value="field"><input name="method" value="field">
        <input id="user" name="user"><input id="pass" type="password" name="pass"><textarea name="t">typed text</textarea>
        <button>Sign in</button><button id="other" formaction="/other" formmethod="get">Other</button></form>
      <form data-service-ignore id="ignored"><button id="ignored-button">Go</button></form>
      <form id="invalid"><input required><button id="invalid-button">Check</button></form>`
    const events = await captured({ body }, async (page) => {
      await page.fill('#user', 'ada@example.com')
      await page.fill('#pass', 'hunter2')
      await page.press('#user', 'Enter')
      await page.click('#other')
      await page.click('#ignored-button')
      await page.click('#invalid-button')
    })
    const form = { formId: 'login', id: 'login', class: 'f' }
    expect(events).toEqual([
      ['form_submit', { ...form, action: expect.stringMatching(/\/session\?token=redacted$/), method: 'post' }],
      ['button_click', { text: 'Other', id: 'other' }],
      ['form_submit', { ...form, action: expect.stringMatching(/\/other$/), method: 'get' }],
      ['button_click', { text: 'Check', id: 'invalid-button' }],
    ])
    expect(JSON.stringify(site.sent)).not.toMatch(/hunter2|ada@example\.com|typed text/)
  })

  test('page_leave has the visible time, and a page closed within 50 ms of a click still sends both', async () => {
    const { url } = await site.host()
    // A tab with history could not close itself.
    const page = await site.open(url, { body: '<button>Bye</button>', impatient: true })
    await site.arrived(url, 'first_visit')
    await page.evaluate(() => {
      document.querySelector('button')?.addEventListener('click', () => setTimeout(() => window.close(), 20))
    })
    await page.click('button', { noWaitAfter: true })
    await page.close({ runBeforeUnload: true }).catch(() => {})
    const [click] = await site.arrived(url, 'button_click')
    const [leave] = await site.arrived(url, 'page_leave')
    expect(click.data).toEqual({ text: 'Bye' })
    expect(leave).toMatchObject({
      url: `${url}/`,
      title: 'Shop',
      data: { path: '/', time_on_page: expect.any(Number) },
    })
    expect(site.names(url).filter((name) => name === 'page_leave')).toHaveLength(1)
  })

  test('track() and push() work before the script has loaded and after, with any data', async () => {
    const { url, tenant } = await site.host()
    const head = `<script>
      service.push(['track', 'early', { a: 1 }])
      service.push(['identify', 'user-7', { email: 'early@example.com', plan: 'pro' }], ['track', 'early_too'])
    </script>`
    const page = await site.open(url, { head })
    await site.arrived(url, 'early_too')
    await page.evaluate(() => {
      const { service } = window as unknown as { service: Record<string, (...args: unknown[]) => void> }
      const cycle: Record<string, unknown> = { name: 'cycle' }
      cycle.self = cycle
      const odd = { lone: '\ud800', nul: 'a\u0000b', quote: '"\\\n', pair: '😀', when: new Date(0), none: undefined }
      service.track?.('odd', {
        ...odd,
        big: 10n,
        nan: Number.NaN,
        list: [1, undefined, () => 1],
        fn() {},
        __proto__x: 1,
      })
      service.track?.('cycle', cycle)
      service.track?.('number', 5)
      service.track?.('huge', { text: 'x'.repeat(100_000) })
      service.track?.('wide', { text: '漢'.repeat(12_000) })
      service.track?.('getter', {
        get bad() {
          throw new Error('never seen')
        },
      })
      service.track?.('')
      service.push?.(['nonsense'], null, 7, ['__proto__'], ['constructor', 1], ['track'])
      service.push?.(['track', 'x'.repeat(300)], ['track', '🎉'.repeat(200)], ['track', `y${'🎉'.repeat(200)}`])
    })
    const events = await site.drained(url, page)
    const byName = dataOf(events)
    expect(byName.early).toEqual({ a: 1 })
    expect(byName.odd).toEqual({
      lone: '�',
      nul: 'a�b',
      quote: '"\\\n',
      pair: '😀',
      when: '1970-01-01T00:00:00.000Z',
      big: 10,
      nan: null,
      list: [1, null, null],
      __proto__x: 1,
    })
    expect(byName.number).toEqual({ value: 5 })
    expect(byName.huge).toEqual({ truncated: true })
    expect(byName.wide).toEqual({ truncated: true })
    expect(byName.cycle.name).toBe('cycle')
    expect(byName.getter).toEqual({})
    for (const name of ['x'.repeat(200), '🎉'.repeat(200), `y${'🎉'.repeat(199)}`]) expect(byName).toHaveProperty(name)
    expect(site.requests(url).map(({ status }) => status)).not.toContain(400)
    // Events before the identification are the contact's too.
    const { body } = await tenant.call('GET', '/v1/contacts?search=early@example.com')
    expect(body.contacts[0].properties).toMatchObject({ email: 'early@example.com', plan: 'pro' })
    const all = await tenant.call('GET', `/v1/contacts/${body.contacts[0].contact_id}?events_limit=50`)
    expect(all.body.events.map(({ event }: { event: string }) => event)).toEqual(
      expect.arrayContaining(['page_view', 'early', 'odd']),
    )
  })

  test('identify links earlier events, and the external contact cookie is read for every event', async () => {
    const { url, tenant } = await site.host()
    const page = await site.open(url)
    await site.drained(url, page)
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: as a host application would
      document.cookie = 'service_external_contact_id=crm%2042; Path=/'
      ;(window as unknown as { service: { track(name: string): void } }).service.track('after_login')
    })
    await site.arrived(url, 'after_login')
    const request = site
      .requests(url)
      .find(({ body }) => body.events.some(({ event }: { event: string }) => event === 'after_login'))
    expect(request?.body.external_contact_id).toBe('crm 42')
    expect(site.requests(url)[0]?.body).not.toHaveProperty('external_contact_id')
    await tenant.call('POST', '/v1/identify', { user_id: 'crm 42', email: 'crm@example.com' })
    const { body } = await tenant.call('GET', '/v1/contacts?search=crm@example.com')
    await expect
      .poll(async () =>
        (await tenant.call('GET', `/v1/contacts/${body.contacts[0].contact_id}?events_limit=50`)).body.events.map(
          ({ event }: { event: string }) => event,
        ),
      )
      .toEqual(expect.arrayContaining(['page_view', 'first_visit', 'after_login']))
  })

  test("identify sends the site's hash beside the identification", async () => {
    const { url, tenant } = await site.host()
    const { body: rotated } = await tenant.call('POST', '/v1/tenant/identity-secret')
    const userHash = createHmac('sha256', rotated.identity_secret).update('user-42').digest('hex')
    const page = await site.open(url)
    await site.drained(url, page)
    await page.evaluate((proof) => {
      type Service = { identify(id: string, traits: object, proof?: object | null): void }
      const { service } = window as unknown as { service: Service }
      service.identify('user-42', { email: 'ada@example.com', plan: 'pro' }, { userHash: proof })
      service.identify('user-43', {}, null)
    }, userHash)
    const sent = () => site.requests(url).filter(({ body }) => body.identify)
    await site.until(() => sent().filter(({ status }) => status === 200).length === 2)
    const [signed, unsigned] = sent()
    expect(signed?.body).toMatchObject({ identify: { external_user_id: 'user-42' }, user_hash: userHash })
    expect(unsigned?.body.identify.external_user_id).toBe('user-43')
    expect(unsigned?.body).not.toHaveProperty('user_hash')
    const { body } = await tenant.call('GET', '/v1/contacts?search=ada@example.com')
    const path = `/v1/contacts/${body.contacts[0].contact_id}?include=provenance`
    const { contact } = (await tenant.call('GET', path)).body
    expect(contact.properties_provenance.plan.source).toBe('identify')
  })
})
