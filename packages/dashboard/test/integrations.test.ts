import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { callMcp } from '../../server/test/mcp.ts'
import { createTestTenant, sharedService, type TestService } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser

const card = (page: Page, title: string) =>
  page
    .locator('#main')
    .locator('.mantine-Card-root')
    .filter({ has: page.getByRole('heading', { name: title, level: 3, exact: true }) })

describe.skipIf(!HAS_BROWSER)('integrations', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
  })
  afterAll(() => browser?.close())

  test('a new workspace sees what could be connected, and each card leads to setting it up', async () => {
    const page = await browser.signedIn(await createTestTenant(service), { path: '/integrations' })
    await card(page, 'Website').getByText('Not connected').waitFor()
    for (const [title, action, heading] of [
      ['Website', 'Add the script', 'Website'],
      ['Systems you use', 'Connect a system', 'Connect a system'],
      ['Incoming webhooks', 'Create one', /hook/],
      ['CSV files', 'Import a file', /import/i],
      ['Webhooks', 'Create one', 'New webhook'],
      ['API keys', 'Create a key', 'API keys'],
    ] as const) {
      await openWithin(page, '/integrations')
      await card(page, title)
        .getByRole('link', { name: `${action}: ${title}` })
        .click()
      await page.locator('#main').getByRole('heading', { name: heading, level: 1 }).waitFor()
    }
    expect(browser.problems).toEqual([])
  })

  test('says what is connected, how much of it, and what fails', async () => {
    const tenant = await createTestTenant(service)
    await tenant.track({ visitor_id: 'first', events: [{ event: 'page_view', url: `https://${tenant.site}/` }] })
    await tenant.call('POST', '/v1/webhooks', { event: 'contact_created', url: 'https://example.com/webhook' })
    const { body } = await tenant.call('POST', '/v1/hooks', { name: 'Forms', kind: 'custom' })
    const page = await browser.signedIn(tenant, { path: '/integrations' })
    await card(page, 'Website').getByText('Last seen', { exact: false }).waitFor()
    await card(page, 'Webhooks').getByText('1 subscription').waitFor()
    await card(page, 'Incoming webhooks').getByText('1 URL, no request yet').waitFor()
    const { status } = await fetch(service.url + new URL(body.url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"ada@example.com"}',
    })
    expect(status).toBe(200)
    // Without a reload.
    await card(page, 'Incoming webhooks').getByText('Last request', { exact: false }).waitFor()
    expect(await checkPage(page, 'integrations')).toEqual([])
    await card(page, 'Webhooks').getByRole('link', { name: 'Manage: Webhooks' }).click()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    // The navigation shows where the person is.
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Integrations' })
    expect(await link.getAttribute('data-within')).not.toBeNull()
    expect(browser.problems).toEqual([])
  })

  test('a key that an AI agent uses does not make a server connected; one that a server uses does', async () => {
    const tenant = await createTestTenant(service)
    const created = await tenant.call('POST', '/v1/api-keys', {
      name: 'Agent',
      scopes: ['contacts:read'],
      redact_personal_data: true,
    })
    const lastUseOf = async (key: string) => {
      const { body } = await tenant.call('GET', '/v1/api-keys')
      return body.keys.find(({ name }: { name: string }) => name === key)?.last_used_at ?? null
    }
    await callMcp(service, created.body.api_key, 'tools/list', {})
    await expect.poll(() => lastUseOf('Agent')).not.toBeNull()
    // The tenant's own key has called the API by now: as if it never had.
    await tenant.handle.db.updateTable('api_keys').set({ last_used_at: null }).where('name', '!=', 'Agent').execute()
    const page = await browser.signedIn(tenant, { path: '/integrations' })
    await card(page, 'Servers').getByText('Not connected').waitFor()
    await tenant.handle.db.updateTable('api_keys').set({ last_used_at: new Date() }).execute()
    await card(page, 'Servers').getByText('Last seen', { exact: false }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a viewer sees the states that they may know, and nothing to set up that they may not', async () => {
    const tenant = await createTestTenant(service)
    const page = await browser.signedIn(tenant, { path: '/integrations', role: 'viewer' })
    await card(page, 'Webhooks').getByText('Nothing yet').waitFor()
    expect(await page.getByRole('link', { name: 'Create a key: API keys' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Create one: Webhooks' }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })
})
