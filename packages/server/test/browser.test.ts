import { createServer, type Server } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { HAS_BROWSER, sharedChromium } from './chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

describe.skipIf(!HAS_BROWSER)('a page in a real browser', () => {
  let service: TestService
  let tenant: TestTenant
  let site: Server
  let tab: Page
  let page: string

  beforeAll(async () => {
    service = await sharedService()
    tenant = await createTestTenant(service)
    await addVerifiedDomain(tenant.handle, 'shop.localhost', new Date())
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<title>Shop</title><h1>Shop</h1>')
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const { port } = site.address() as { port: number }
    page = `http://shop.localhost:${port}/cart`
    tab = await (await sharedChromium()).newPage()
  })
  afterAll(async () => {
    await tab?.close()
    site?.close()
  })

  /** Sends a batch from a page, as text/plain so that no preflight is needed, or as JSON with one. */
  async function send(
    url: string,
    contentType: string,
  ): Promise<{ status: number; body: { accepted?: number } } | string> {
    await tab.goto(url)
    return tab.evaluate(
      async ([target, type]) => {
        try {
          const response = await fetch(`${target}/track`, {
            method: 'POST',
            credentials: 'include',
            headers: { 'content-type': type ?? '' },
            body: JSON.stringify({ events: [{ event: 'from_browser', url: location.href, title: document.title }] }),
          })
          return { status: response.status, body: await response.json() }
        } catch (error) {
          return String(error)
        }
      },
      [service.url, contentType],
    )
  }

  test.each(['text/plain', 'application/json'])(
    'sends an event as %s and can read the response',
    async (contentType) => {
      expect(await send(page, contentType)).toMatchObject({ status: 200, body: { status: 'success', accepted: 1 } })
      const { body } = await tenant.call('GET', '/v1/events?limit=1')
      expect(body.events[0]).toMatchObject({
        event: 'from_browser',
        url: page,
        domain: 'shop.localhost',
        data: { title: 'Shop' },
        os: 'Linux',
      })
    },
  )

  test('of an unverified site cannot send', async () => {
    expect(await send(page.replace('shop.', 'evil.'), 'text/plain')).toContain('Failed to fetch')
  })
})
