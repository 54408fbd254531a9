import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { insertConnection } from '../../server/test/connected-system.ts'
import { isInstalled } from '../../server/test/docs-code.ts'
import { connectClient } from '../../server/test/mcp.ts'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

const run = promisify(execFile)

describe.skipIf(!HAS_BROWSER)('connecting', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(() => browser?.close())

  test('the guide for a website names its form, and the old address of all guides still works', async () => {
    const page = await browser.signedIn(tenant, { path: '/connect' })
    await page.getByRole('heading', { name: 'Integrations', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Website', exact: true }).click()
    await page.getByText(`/v1/public/form-submission/${tenant.id}/contact`, { exact: false }).waitFor()
    expect(await checkPage(page, 'connect-website')).toEqual([])
    expect(browser.problems).toEqual([])
  })

  test('a webhook without a delivery and a connection that is paused are not connected', async () => {
    const own = await createTestTenant(service)
    await own.call('POST', '/v1/webhooks', { event: 'page_view', url: 'https://hooks.example.com/page' })
    const connection = await insertConnection(own)
    const page = await browser.signedIn(own, { path: '/connect/systems' })
    await page.getByText('Waiting…').waitFor()
    await own.handle.db
      .updateTable('connections')
      .set({ state: 'waiting', next_pull_at: new Date(Date.now() + 3_600_000) })
      .where('connection_id', '=', connection)
      .execute()
    // Its last run has read the system.
    await page.getByText('Connected, last seen', { exact: false }).waitFor()
    // The system is not HubSpot.
    for (const kind of ['webhooks', 'hubspot']) {
      await openWithin(page, `/connect/${kind}`)
      await page.getByText('Waiting…').waitFor()
    }
    expect(browser.problems).toEqual([])
  })

  test.for([
    { kind: 'node', files: ['identify.mjs', 'event.mjs'], command: process.execPath },
    { kind: 'python', files: ['identify.py', 'event.py'], command: 'python3' },
  ])('the code of $kind runs as it is shown, and the light turns green', async ({ kind, files, command }, { skip }) => {
    skip(!isInstalled(command))
    const page = await browser.signedIn(tenant, { path: `/connect/${kind}`, role: 'admin' })
    await page.getByText('Waiting…').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('it is not shown again', { exact: false }).waitFor()
    const directory = await mkdtemp(join(tmpdir(), 'connect-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    for (const file of files) {
      const code = (await page.getByRole('region', { name: `Code: ${file}` }).textContent()) ?? ''
      await writeFile(join(directory, file), atThisService(code))
      const { stdout } = await run(command, [join(directory, file)])
      expect(stdout).toContain('contact_id')
    }
    await page.getByText('Connected, last seen', { exact: false }).waitFor()
    expect(await tenant.contactOf('ada@example.com')).toBeDefined()
    expect(browser.problems).toEqual([])
  })

  test("the guide of Segment's SDKs leads to the sources, and its light turns green with the first call", async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/connect/segment', role: 'admin' })
    await page.getByText('Waiting…').waitFor()
    const { body } = await own.call('POST', '/v1/sources', { name: 'Backend', type: 'server' })
    const response = await fetch(`${service.url}/v1/track`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${body.write_key}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ userId: 'user-42', event: 'Order Completed' }),
    })
    expect(response.status).toBe(200)
    await page.getByText('Connected, last seen', { exact: false }).waitFor()
    await page.getByRole('link', { name: 'Create a source' }).click()
    await page.waitForURL('**/settings/sources')
    expect(browser.problems).toEqual([])
  })

  test('an AI agent connects with the settings that its guide shows, and the light turns green', async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/connect/mcp', role: 'admin' })
    await page.getByText('Waiting…').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('it is not shown again', { exact: false }).waitFor()
    const code = await page.getByRole('region', { name: 'Code: .cursor/mcp.json', exact: false }).textContent()
    const { url, headers } = JSON.parse(code ?? '').mcpServers['customer-data']
    expect(url).toBe(`${service.config.publicUrl}/mcp`)
    const client = await connectClient(service, headers.Authorization.replace('Bearer ', ''), 'auto')
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    expect((await client.callTool({ name: 'describe_schema' })).structuredContent).toHaveProperty('contacts')
    await page.getByText('Connected, last seen', { exact: false }).waitFor()
    expect(await checkPage(page, 'connect-mcp')).toEqual([])
    await page.getByRole('link', { name: 'Connected apps' }).first().click()
    await page.waitForURL('**/settings/connected-apps')
    expect(browser.problems).toEqual([])
  })

  test('a viewer is told who can create keys', async () => {
    const page = await browser.signedIn(tenant, { path: '/connect/hubspot', role: 'viewer' })
    await page.getByText('Only admins can create keys', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
  })

  test('the debugger shows events and rejected requests as they arrive, filters, pauses and shows JSON', async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/connect/debugger' })
    await page.getByText('Live', { exact: true }).waitFor()
    await own.track({ visitor_id: 'v-1', events: [{ event: 'trial_started', url: `https://${own.site}/pricing` }] })
    await sendRejected(service, own)
    const lines = page.getByRole('list', { name: 'What arrived, newest first' }).getByRole('listitem')
    await lines.filter({ hasText: 'Trial started' }).waitFor()
    await lines.filter({ hasText: `A request from ${own.site} was rejected` }).waitFor()
    expect(await checkPage(page, 'connect-debugger')).toEqual([])

    await lines.filter({ hasText: 'Trial started' }).getByRole('button', { name: 'JSON' }).click()
    await page.getByText(`"url": "https://${own.site}/pricing"`, { exact: false }).waitFor()
    await choose(page, 'Problems')
    await lines.filter({ hasText: 'Trial started' }).waitFor({ state: 'detached' })
    await choose(page, 'Everything')
    await page.getByLabel('Filter by event', { exact: false }).fill('TRIAL')
    await lines.filter({ hasText: 'was rejected' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('filter')).toBe('TRIAL')
    await page.getByLabel('Filter by event', { exact: false }).fill('')

    await page.getByRole('button', { name: 'Pause' }).click()
    await own.track({ visitor_id: 'v-1', events: [{ event: 'while_paused' }] })
    await page.getByText('Paused, 1 new').waitFor()
    expect(await lines.filter({ hasText: 'While paused' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await lines.filter({ hasText: 'While paused' }).waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByText('Nothing yet.', { exact: false }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('the debugger speaks like the other pages, with the raw names on demand', async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/connect/debugger' })
    await page.getByText('Live', { exact: true }).waitFor()
    const url = `https://${own.site}/pricing?utm_source=mail`
    await own.track({ visitor_id: 'v-raw', events: [{ event: 'page_view', url, title: 'Pricing' }] })
    await sendRejected(service, own)
    const lines = page.getByRole('list', { name: 'What arrived, newest first' }).getByRole('listitem')
    const viewed = lines.filter({ hasText: 'Viewed Pricing' })
    await viewed.filter({ hasText: `${own.site}/pricing · Anonymous visitor` }).waitFor()
    const rejected = lines.filter({ hasText: `A request from ${own.site} was rejected` })
    await rejected.waitFor()
    for (const name of ['page_view', 'v-raw', 'validation_error', 'POST /track']) {
      expect(await lines.filter({ hasText: name }).count(), name).toBe(0)
    }
    await page.getByRole('switch', { name: 'Raw names' }).check()
    await viewed.filter({ hasText: 'page_view' }).filter({ hasText: 'v-raw' }).filter({ hasText: url }).waitFor()
    await rejected.filter({ hasText: 'validation_error' }).filter({ hasText: 'POST /track 400' }).waitFor()
    expect(await checkPage(page, 'connect-debugger-raw')).toEqual([])
    // The filter finds a line by its words and by its raw name.
    for (const sought of ['viewed pri', 'PAGE_VIEW']) {
      await page.getByLabel('Filter by event', { exact: false }).fill(sought)
      await rejected.waitFor({ state: 'detached' })
      await viewed.waitFor()
    }
    expect(browser.problems).toEqual([])
  })

  /** The code names the public URL; the test's service listens elsewhere. */
  function atThisService(code: string): string {
    return code.replaceAll(/https?:\/\/[^/'"]+(?=\/v1)/g, service.url)
  }
})

async function choose(page: Page, label: string): Promise<void> {
  await page.getByRole('radiogroup', { name: 'Show' }).getByText(label, { exact: true }).click()
}

function sendRejected(service: TestService, { site }: TestTenant) {
  return call(service, 'POST', '/track', {
    headers: { origin: `https://${site}`, 'content-type': 'text/plain', 'user-agent': CHROME },
    body: JSON.stringify({ visitor_id: 'v-2', events: [{ event: '' }] }),
  })
}
