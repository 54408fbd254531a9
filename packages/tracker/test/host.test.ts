import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { consoleOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

/** Where the script finds its server. */
describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()
  const NO_CURRENT = "<script>Object.defineProperty(document,'currentScript',{get(){return null}})</script>"
  const icon = '<link rel="icon" href="data:,">'
  /** The requests that a page posts to its own host. */
  const watchOwn = (page: Page, url: string) => {
    const own: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().startsWith(url)) own.push(request.url())
    })
    return own
  }
  const goTo = async (url: string, html: string) => {
    const page = await openTab()
    site.pages[`${url}/page`] = `<!doctype html><title>Shop</title>${icon}${html}`
    const own = watchOwn(page, url)
    const said = consoleOf(page)
    await page.goto(`${url}/page`)
    return { page, own, said }
  }

  test.each([
    [
      'document.currentScript is null',
      (tracker: string) => `${NO_CURRENT}<script async src="${tracker}/tracker.js" OPTIONS></script>`,
    ],
    [
      'the script is a module',
      (tracker: string) => `<script type="module" src="${tracker}/tracker.js" OPTIONS></script>`,
    ],
    [
      'a loader changed its type and starts it later',
      (
        tracker: string,
      ) => `${NO_CURRENT}<script type="0a1b-text/javascript" src="${tracker}/tracker.js?v=2" OPTIONS></script>
        <script>{
          const held = document.querySelector('[type$="-text/javascript"]')
          const live = document.createElement('script')
          for (const { name, value } of held.attributes) if (name !== 'type') live.setAttribute(name, value)
          held.replaceWith(live)
        }</script>`,
    ],
    [
      'an element hides document.currentScript',
      (tracker: string) =>
        `<img name="currentScript" src="data:,"><script async src="${tracker}/tracker.js" OPTIONS></script>`,
    ],
  ])('events go to the tracker host with the tag’s options when %s', async (_name, html) => {
    const { url } = await site.host()
    site.files['/shared.js'] = ['text/javascript', Buffer.from('')]
    const options = 'data-fingerprint="off" data-exclude="first_visit" data-analytics-user-id="ph-1" crossorigin'
    const { own } = await goTo(url, html(site.tracker).replace('OPTIONS', options.replace(' crossorigin', '')))
    await site.arrived(url, 'page_view')
    expect(site.requests(url)[0]?.body.context.analytics_user_id).toBe('ph-1')
    expect(site.names(url)).not.toContain('first_visit')
    expect(own).toEqual([])
  })

  test('a script of the page’s own host without a current script sends beside itself', async () => {
    const { url } = await site.host()
    site.files['/own/tracker.js'] = [
      'text/javascript',
      Buffer.from(await (await fetch(`${site.tracker}/tracker.js`)).arrayBuffer()),
    ]
    const page = await openTab()
    site.pages[`${url}/page`] =
      `<title>Own</title>${icon}${NO_CURRENT}<script async src="/own/tracker.js?v=2" data-fingerprint="off"></script>`
    const sent = page.waitForRequest(`${url}/own/track`)
    await page.goto(`${url}/page`)
    expect((await sent).postDataJSON().events[0].title).toBe('Own')
  })

  test.each([
    ['after other code', (code: string) => `console.log(1);\n${code}`],
    ['before other code', (code: string) => `${code}\nconsole.log(1)`],
  ])('a bundle with the tracker %s sends nothing, wherever it is hosted, and says so', async (_name, bundle) => {
    for (const start of ['', NO_CURRENT]) {
      const { url } = await site.host()
      const other = `http://cdn.${new URL(url).host}`
      const code = await (await fetch(`${site.tracker}/tracker.js`)).text()
      site.files['/app.js'] = ['text/javascript', Buffer.from(bundle(code))]
      for (const host of [url, other]) {
        const page = await openTab()
        const posted: string[] = []
        page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()))
        const said = consoleOf(page)
        site.pages[`${url}/page`] =
          `<!doctype html><meta charset="utf-8">${icon}${start}<script async src="${host}/app.js" data-fingerprint="off"></script>`
        await page.goto(`${url}/page`)
        await page.waitForFunction(() => 'optOut' in ((window as unknown as Partial<Global>).service ?? {}))
        await page.evaluate(() => (window as unknown as Global).service.track?.('never'))
        await expect.poll(() => said.filter((line) => line.includes('Set data-collect'))).toHaveLength(1)
        await page.goto('about:blank')
        expect(posted).toEqual([])
      }
    }
  })

  test('under the name that the service has for it, a proxied script sends beside itself', async () => {
    const { url } = await site.host()
    const { buildScript } = await import('../build.ts')
    site.files['/own/stats.min.js'] = ['text/javascript', Buffer.from(await buildScript('in', 'stats.min.js'))]
    const page = await openTab()
    site.pages[`${url}/page`] =
      `<title>Own</title>${icon}<script async src="/own/stats.min.js" data-fingerprint="off"></script>`
    const sent = page.waitForRequest(`${url}/own/in`)
    await page.goto(`${url}/page`)
    expect((await sent).postDataJSON().events[0].title).toBe('Own')
  })

  test('a getter of document.currentScript that throws does not stop the tracker', async () => {
    const { url } = await site.host()
    const throwing =
      "<script>Object.defineProperty(document, 'currentScript', { get() { throw new Error('never seen') } })</script>"
    const { own } = await goTo(url, `${throwing}<script async src="${site.tracker}/tracker.js"></script>`)
    await site.arrived(url, 'page_view')
    expect(own).toEqual([])
  })

  test.each([
    ['pasted into the page', (code: string) => `<script>${code}</script>`],
    [
      'evaluated by a script of the page',
      (code: string) => `<script id="code" type="text/plain">${code}</script><script src="/evaluate.js"></script>`,
    ],
  ])(
    'a script %s sends nothing, keeps events in memory and says so, until collect is configured',
    async (_name, html) => {
      const { url } = await site.host()
      const code = await (await fetch(`${site.tracker}/tracker.js`)).text()
      site.files['/evaluate.js'] = [
        'text/javascript',
        Buffer.from("(0, eval)(document.getElementById('code').textContent)"),
      ]
      const { page, own, said } = await goTo(url, `<meta charset="utf-8">${html(code)}`)
      await page.evaluate(() => (window as unknown as Global).service.track?.('waits'))
      await expect.poll(() => said.filter((line) => line.includes('data-collect'))).toHaveLength(1)
      // Leaving sends what waits, so this page is only hidden.
      await page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
        Object.defineProperty(document, 'hidden', { value: false })
      })
      expect(own).toEqual([])
      await page.evaluate(
        (collect) => (window as unknown as Global).service.configure?.({ collect }),
        `${site.tracker}/track`,
      )
      await page.evaluate(() => (window as unknown as Global).service.track?.('goes'))
      await site.arrived(url, 'goes')
      expect(site.names(url)).toContain('waits')
      expect(own).toEqual([])
    },
  )

  test('a 2xx of another server does not count as delivered: events wait for the right one', async () => {
    const { url, tenant } = await site.host()
    // The test's site shows a page for any address, as many single-page applications do.
    const { page, own, said } = await goTo(
      url,
      `<script async src="${site.tracker}/tracker.js" data-collect="/anything" data-fingerprint="off"></script>`,
    )
    await page.waitForFunction(() => 'optOut' in (window as unknown as Global).service)
    await page.evaluate(() =>
      (window as unknown as Global).service.configure?.({ collect: `${location.origin}/anything` }),
    )
    await page.evaluate(() => (window as unknown as Global).service.track?.('kept'))
    await expect.poll(() => said.filter((line) => line.includes('data-collect'))).toHaveLength(1)
    expect(own.length).toBeGreaterThan(0)
    await page.waitForFunction(() => localStorage.getItem('service_queue')?.includes('kept'))
    await site.open(url)
    await site.arrived(url, 'kept')
    const { body } = await tenant.call('GET', '/v1/events?event_type=kept&count_only=true')
    expect(body.count).toBe(1)
  })

  test('a module without the URL of the service sends nothing and does not throw', async () => {
    const { url } = await site.host()
    const { buildModule } = await import('../build.ts')
    site.files['/module.js'] = ['text/javascript', Buffer.from(await buildModule())]
    const { page, own, said } = await goTo(
      url,
      `<script type="module">import { init } from '/module.js'
        const service = init({ fingerprint: 'off' })
        service.track('never')
        service.reset()
        document.title = 'Started'</script>`,
    )
    await page.waitForFunction(() => document.title === 'Started')
    await expect.poll(() => said.filter((line) => line.includes('data-collect'))).toHaveLength(1)
    expect(own).toEqual([])
  })
})
