import { createServer, type Server } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER, sharedChromium } from '../../server/test/chromium.ts'
import {
  CHROME,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../server/test/service.ts'
import { until } from '../../server/test/webhooks.ts'
import { checkPage, openBrowser, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('a page on a domain that nobody added', () => {
  let service: TestService
  let browser: TestBrowser
  let site: Server

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    site = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://site')
      response.setHeader('content-type', 'text/html')
      response.end(
        `<title>Shop</title><script async src="${service.url}/tracker.js?tenant=${searchParams.get('tenant')}"></script>`,
      )
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  /** A tenant without domains, and a page of a host that nobody added, with the tenant's snippet. */
  async function newShop() {
    const tenant = await createTestTenant(service)
    for (const { domain_id } of (await tenant.call('GET', '/v1/domains')).body.domains) {
      await tenant.call('DELETE', `/v1/domains/${domain_id}`)
    }
    const host = `shop-${tenant.id}.localhost`
    const { port } = site.address() as { port: number }
    const tab = await (await sharedChromium()).newPage({ userAgent: CHROME })
    onTestFinished(() => tab.close())
    const said: string[] = []
    tab.on('console', (message) => said.push(message.text()))
    tab.on('pageerror', (error) => said.push(String(error)))
    const open = () => tab.goto(`http://${host}:${port}/?tenant=${tenant.id}`)
    /** Until the service knows the new domain. A page that is then reloaded over and over would look like a bot's. */
    const openUntilTracked = () =>
      until(async () => {
        await open()
        expect(await tab.evaluate(() => 'service' in window)).toBe(true)
      })
    return { tenant, host, tab, said, open, openUntilTracked }
  }

  const offerOf = (page: Page, host: string) =>
    page.getByRole('status').filter({ hasText: `A page on ${host} tried to send events. Add this domain?` })

  test('says in the console what to do, and one click in the debugger lets its events arrive', async () => {
    const { tenant, host, tab, said, open, openUntilTracked } = await newShop()
    const stranger = await createTestTenant(service)
    const debug = await browser.signedIn(tenant, { role: 'admin', path: '/connect/debugger' })
    await open()
    const url = `${service.config.publicUrl}/settings/domains`
    await until(async () =>
      expect(said).toEqual([
        `Customer Data Service: nothing is recorded. ${host} is not one of your verified domains. Add it at ${url} and reload this page.`,
      ]),
    )
    expect(await tab.evaluate(() => [document.cookie, localStorage.length, 'service' in window])).toEqual([
      '',
      0,
      false,
    ])

    await offerOf(debug, host).waitFor()
    const list = debug.getByRole('list', { name: 'What arrived, newest first' })
    await list.getByText(`A page on ${host} tried to send events`).waitFor()
    expect(await checkPage(debug, 'connect-debugger-refused')).toEqual([])
    await debug.getByRole('button', { name: `Add domain: ${host}` }).click()
    await debug.getByText('Reload the page, and its events arrive.').waitFor()
    await offerOf(debug, host).waitFor({ state: 'detached' })
    await openUntilTracked()
    await list.getByText('Viewed Shop').first().waitFor()

    const other = await browser.signedIn(stranger, { path: '/connect/debugger' })
    await other.getByText('Nothing yet.', { exact: false }).waitFor()
    expect(await other.getByText(host, { exact: false }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('is offered in the first steps, and the first event follows', async () => {
    const { tenant, host, open, openUntilTracked } = await newShop()
    const home = await browser.signedIn(tenant, { role: 'owner' })
    await home.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    await open()
    await offerOf(home, host).waitFor()
    expect(await checkPage(home, 'home-refused-page')).toEqual([])
    await home.getByRole('button', { name: `Add domain: ${host}` }).click()
    await home.getByText(`Pages on ${host} and its subdomains can send events`, { exact: false }).waitFor()
    await openUntilTracked()
    await home.getByText('Your first event has arrived').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('is offered in the guide, and a domain on the internet must then be proven', async () => {
    const { tenant } = await newShop()
    const host = `shop-${tenant.id}.example.com`
    const guide = await browser.signedIn(tenant, {
      role: 'admin',
      path: '/connect/website',
      width: 390,
      scheme: 'dark',
    })
    await load(tenant, host)
    await offerOf(guide, host).waitFor()
    expect(await checkPage(guide, 'connect-website-refused')).toEqual([])
    await guide.getByRole('button', { name: `Add domain: ${host}` }).click()
    await offerOf(guide, host).waitFor({ state: 'detached' })
    await guide.getByRole('link', { name: 'Prove that you own it, and its pages can send events.' }).click()
    await guide.waitForURL('**/settings/domains')
    await guide.getByText(host).first().waitFor()
    expect(browser.problems).toEqual([])
  })

  test('is shown to those who cannot add it, without a button, and a flood of hosts leaves room for the page', async () => {
    const { tenant } = await newShop()
    for (let n = 0; n < 8; n++) await load(tenant, `flood-${n}-${tenant.id}.example.com`)
    const page = await browser.signedIn(tenant, { role: 'member', path: '/connect/debugger' })
    const asked = page.getByText('Ask an admin of your workspace to add this domain.', { exact: false })
    await asked.first().waitFor()
    expect(await asked.count()).toBe(3)
    expect(await page.getByRole('button', { name: 'Add domain:' }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  function load(tenant: TestTenant, host: string) {
    return fetch(`${service.url}/tracker.js?tenant=${tenant.id}`, { headers: { referer: `https://${host}/` } })
  }
})
