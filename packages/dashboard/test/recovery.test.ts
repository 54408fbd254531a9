import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectPostgres } from '../../server/src/platform/postgres/connect.ts'
import type { DB } from '../../server/src/platform/postgres/generated/tables.ts'
import type { Stores } from '../../server/src/platform/tenant.ts'
import { HAS_BROWSER, sharedChromium } from '../../server/test/chromium.ts'
import { createDatabase } from '../../server/test/databases.ts'
import { KillableService } from '../../server/test/killable.ts'
import { createPerson, PASSWORD } from '../../server/test/people.ts'
import { freePort } from '../../server/test/ports.ts'
import { openDirectory } from '../../server/test/process.ts'
import { CHROME, insertTenant } from '../../server/test/service.ts'
import { ensureBuilt } from '../ensure-built.ts'
import { show } from './browser.ts'

/** What is on screen while the service is away comes back with it: the reader reloads nothing and clicks nothing. */
describe.skipIf(!HAS_BROWSER)('a service that stops and starts again', () => {
  const EMAIL = 'owner@example.com'
  /** The page asks every 3 seconds; a busy machine needs longer. */
  const BACK_WITHIN_MS = 30_000
  let directory: string
  let service: KillableService
  let url: string
  let tenant: { key: string; site: string }
  beforeAll(async () => {
    await ensureBuilt(() => {})
    directory = await openDirectory()
    const databaseUrl = await createDatabase()
    const port = await freePort()
    // Browsers keep cookies by host, and the service accepts sign-ins at its public URL only.
    const CDS_PUBLIC_URL = `http://127.0.0.1:${port}`
    service = new KillableService({
      CDS_DATA_DIR: directory,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      CDS_PUBLIC_URL,
    })
    url = await service.start()
    const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 1)
    const { id, ...inserted } = await insertTenant(postgres.db)
    tenant = inserted
    await createPerson({ database: postgres.db } as Stores, id, { email: EMAIL, role: 'owner', name: 'Robin Marsh' })
    await postgres.close()
  })
  afterAll(async () => {
    await service?.close()
    await rm(directory, { recursive: true, force: true })
  })

  const createAda = async () => {
    const response = await fetch(`${url}/v1/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com', properties: { firstname: 'Ada', lastname: 'Lovelace' } }),
    })
    expect(response.status).toBe(201)
  }

  const visit = async (title: string) => {
    const event = { event: 'page_view', url: `https://${tenant.site}/`, title }
    const response = await fetch(`${url}/track`, {
      method: 'POST',
      headers: { origin: `https://${tenant.site}`, 'content-type': 'application/json', 'user-agent': CHROME },
      body: JSON.stringify({ visitor_id: 'v', events: [event] }),
    })
    expect(response.status).toBe(200)
  }

  /** A window in which the owner is signed in, and what it loaded since. */
  async function signedIn() {
    const window = await (await sharedChromium()).newContext({ baseURL: url })
    onTestFinished(() => window.close())
    window.setDefaultTimeout(BACK_WITHIN_MS)
    const page = await window.newPage()
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.locator('nav[aria-label="Main"]').waitFor({ state: 'attached' })
    let loads = 0
    page.on('load', () => loads++)
    return { page, loads: () => loads }
  }

  test('a page that failed shows its data once the service is back', async () => {
    await createAda()
    const { page, loads } = await signedIn()
    await service.kill()
    // Neither its script nor its data can be loaded.
    await page.getByRole('link', { name: 'Contacts', exact: true }).click()
    await page.locator('#main').getByRole('alert').waitFor()
    await service.start()
    await page.locator('#main').getByText('Ada Lovelace').waitFor()
    expect(await page.locator('#main').getByRole('alert').count()).toBe(0)

    // Its script is there now, but not the data of another filter.
    await service.kill()
    await show(page, '/contacts?search=lovelace')
    await page.locator('#main').getByRole('alert').waitFor()
    await service.start()
    await page.locator('#main').getByText('Ada Lovelace').waitFor()
    expect(loads()).toBe(0)
  })

  test('a page that was open is live again, with what was recorded before its feed was', async () => {
    await visit('Before the stop')
    const { page, loads } = await signedIn()
    const feed = page.locator('#main')
    await feed.getByText('Before the stop').first().waitFor()
    await feed.locator('[data-live=true]').waitFor({ state: 'attached' })
    await service.kill()
    await feed.locator('[data-live=false]').waitFor({ state: 'attached' })
    await service.startLast()
    await visit('After the start')
    await feed.getByText('After the start').first().waitFor()
    await feed.locator('[data-live=true]').waitFor({ state: 'attached' })
    expect(loads()).toBe(0)
  })
})
