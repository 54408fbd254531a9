import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import {
  type ConnectedSystem,
  insertConnection,
  type SystemRequest,
  startConnectedSystem,
} from '../../server/test/connected-system.ts'
import { type HubSpot, startHubSpot } from '../../server/test/hubspot.ts'
import { HubSpotWorkspace } from '../../server/test/hubspot-workspace.ts'
import { makeCertificate } from '../../server/test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, reopen, type TestBrowser } from './browser.ts'

const TOKEN = '0123456789abcdef0123456789abcdef'
const HOSTILE = '<img src=x onerror="alert(1)"> Engine Works'

describe.skipIf(!HAS_BROWSER)('the connected systems', () => {
  let system: ConnectedSystem
  let hubspot: HubSpot
  let service: TestService
  let browser: TestBrowser
  let tenant: TestTenant
  let persons: Record<string, unknown>[]

  /** Pipedrive, with pages of all records. */
  function respond({ path, query, headers }: SystemRequest) {
    if (headers['x-api-token'] !== TOKEN) return { status: 401, body: { success: false, error: 'unauthorized access' } }
    if (path.endsWith('/users/me'))
      return { body: { success: true, data: { id: 1, company_id: 77, company_name: HOSTILE } } }
    const since = query.get('updated_since') ?? ''
    const data = path.endsWith('/persons') ? persons.filter(({ update_time }) => String(update_time) >= since) : []
    return { body: { success: true, data, additional_data: { next_cursor: null } } }
  }

  beforeAll(async () => {
    const certificate = makeCertificate()
    system = await startConnectedSystem(certificate, respond)
    hubspot = await startHubSpot(certificate)
    const outbound = { allowPrivate: true, ca: certificate.certificate }
    service = await startTestService({}, { outbound, connectorUrls: { pipedrive: system.url, hubspot: hubspot.url } })
    browser = await openBrowser(service)
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
    system.intercept = () => undefined
    const update_time = '2026-01-01T00:00:00Z'
    persons = [
      { id: 1, first_name: 'Ada', emails: [{ value: 'ada@example.com' }], update_time },
      { id: 2, first_name: 'x'.repeat(70_000), emails: [{ value: 'long@example.com' }], update_time },
    ]
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await system?.close()
    await hubspot?.close()
  })

  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const more = async (page: Page, item: string) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  /** Connects Pipedrive through the API, and waits until it has been read. @returns the path of its page. */
  const connected = async () => {
    const body = { connector: 'pipedrive', credentials: { api_token: TOKEN } }
    const { connection } = (await tenant.call('POST', '/v1/connections', body)).body
    const path = `/connections/${connection.connection_id}`
    await expect
      .poll(async () => (await tenant.call('GET', `/v1${path}`)).body.connection.last_run?.finished_at, {
        timeout: 120_000,
      })
      .toBeTruthy()
    return path
  }

  test('a system is connected with a token, and its page shows what was read and what failed', async () => {
    const page = await browser.signedIn(tenant, { path: '/connections' })
    await page.getByRole('heading', { name: 'No connected systems yet' }).waitFor()
    await page.getByRole('link', { name: 'Connect a system' }).first().click()
    await page.getByRole('link', { name: 'Intercom' }).waitFor()
    await page.getByRole('link', { name: 'Pipedrive' }).click()
    const token = page.getByRole('textbox', { name: 'API token' })
    await token.fill('not-the-token')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('alert').getByText('unauthorized access').waitFor()
    expect(await checkPage(page, 'connections-new')).toEqual([])
    await token.fill(TOKEN)
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { name: 'Pipedrive', level: 1 }).waitFor()
    await page.getByText(HOSTILE).waitFor()
    await region(page, 'Progress').getByText('1 created, 1 failed').waitFor()
    await region(page, 'Runs').getByText('Persons: 1 created, 1 failed').waitFor()
    await region(page, 'Failed records').getByRole('cell', { name: '2', exact: true }).waitFor()
    await region(page, 'Failed records').getByText('firstname').waitFor()
    await page.locator('dd').getByText('waiting').waitFor()
    // Where the button was, the pointer may rest on something with a tooltip.
    await page.mouse.move(0, 0)
    expect(await checkPage(page, 'connection')).toEqual([])
    expect(await page.content()).not.toContain(TOKEN)
    await page.getByRole('link', { name: 'Connected systems' }).first().click()
    await page.getByRole('cell', { name: HOSTILE }).waitFor()
    await openWithin(page, '/integrations')
    await page.getByText('1 connected').waitFor()
    await page.getByRole('link', { name: 'Systems you use', exact: true }).click()
    await page.getByRole('cell', { name: HOSTILE }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('it is paused, resumed, pulled, read again from a day, and deleted', async () => {
    const page = await browser.signedIn(tenant, { path: await connected() })
    await region(page, 'Runs').getByText('1 created').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Nothing is pulled until you resume it.', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'Pull now' }).count()).toBe(0)
    expect(await checkPage(page, 'connection-paused')).toEqual([])
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    // Resumed, it is read at once, without the record that failed and did not change.
    await region(page, 'Runs').getByText('nothing changed').first().waitFor()

    persons.push({
      id: 3,
      first_name: 'Grace',
      emails: [{ value: 'grace@example.com' }],
      update_time: new Date(Date.now() + 60_000).toISOString(),
    })
    await page.getByRole('button', { name: 'Pull now' }).click()
    await region(page, 'Runs').getByText('Persons: 1 created', { exact: true }).waitFor()

    system.requests = []
    await more(page, 'Read again')
    const dialog = page.getByRole('dialog', { name: 'Read again' })
    await dialog.getByLabel('Since').fill('2025-12-31')
    expect(await checkPage(page, 'connection-reread')).toEqual([])
    await dialog.getByRole('button', { name: 'Read again' }).click()
    await region(page, 'Runs').getByText('Persons: 2 unchanged, 1 failed', { exact: true }).waitFor()
    const since = system.requests
      .filter(({ path }) => path.endsWith('/persons'))
      .map(({ query }) => query.get('updated_since'))
    expect(since).toEqual(['2025-12-31T00:00:00Z'])

    await more(page, 'Delete')
    await page.getByText('that it wrote stay', { exact: false }).waitFor()
    expect(await checkPage(page, 'connection-delete')).toEqual([])
    await page.getByRole('button', { name: 'Delete connection' }).click()
    await page.getByRole('heading', { name: 'No connected systems yet' }).waitFor()
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(2)
    expect(browser.problems).toEqual([])
  })

  test('it says what to do when the system fails, and when the sign-in has ended', async () => {
    const path = await connected()
    system.intercept = ({ path: asked }) => (asked.endsWith('/users/me') ? undefined : { status: 500, body: {} })
    const page = await browser.signedIn(tenant, { path })
    await page.getByRole('button', { name: 'Pull now' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Pipedrive responded with status 500').waitFor()
    await alert.getByText('The next attempt starts', { exact: false }).waitFor()
    system.intercept = ({ path: asked }) =>
      asked.endsWith('/users/me') ? undefined : { status: 401, body: { error: 'unauthorized access' } }
    await page.getByRole('button', { name: 'Pull now' }).click()
    await alert.getByText('The sign-in is no longer valid').waitFor()
    expect(await checkPage(page, 'connection-signed-out')).toEqual([])
    system.intercept = () => undefined
    await alert.getByRole('button', { name: 'Sign in again' }).click()
    const dialog = page.getByRole('dialog', { name: 'Credentials and settings of Pipedrive' })
    await dialog.getByRole('textbox', { name: 'API token' }).fill(TOKEN)
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await alert.waitFor({ state: 'detached' })
    await page.locator('dd').getByText('waiting').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('the settings change without the credentials', async () => {
    const workspace = new HubSpotWorkspace(tenant)
    await workspace.connect()
    const page = await browser.signedIn(tenant, { path: `/connections/${workspace.connectionId}` })
    await more(page, 'Change credentials or settings')
    const dialog = page.getByRole('dialog', { name: 'Credentials and settings of HubSpot' })
    await dialog.getByLabel('Contact properties').fill('plan')
    expect(await checkPage(page, 'connection-settings')).toEqual([])
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    await workspace.pulled()
    expect(await workspace.read()).toMatchObject({ settings: { contact_properties: 'plan' }, error: null })
    expect(browser.problems).toEqual([])
  })

  test('what is written to a system is chosen, refused where that cannot be, and turned off', async () => {
    const ada = hubspot.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess' })
    const workspace = new HubSpotWorkspace(tenant)
    await workspace.connect()
    const page = await browser.signedIn(tenant, { path: `/connections/${workspace.connectionId}` })
    await more(page, 'Write to HubSpot')
    const dialog = page.getByRole('dialog', { name: 'Write to HubSpot' })
    await dialog.getByLabel('Property 1', { exact: true }).selectOption('jobtitle')
    const field = dialog.getByLabel('Field 1 in HubSpot')
    expect(await field.inputValue()).toBe('jobtitle')
    await field.fill('lastmodifieddate')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.getByText('cannot be written in HubSpot').waitFor()
    expect(await checkPage(page, 'connection-write-back-refused')).toEqual([])
    await field.fill('jobtitle')
    await dialog.getByLabel('Rule 1').selectOption('ours')
    await dialog.getByRole('button', { name: 'Add a property' }).click()
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('dd').getByText('jobtitle').waitFor()
    const properties = [{ property: 'jobtitle', target: 'jobtitle', conflict: 'ours' }]
    expect((await workspace.read()).write_back).toMatchObject({ properties, create_missing: false })
    await workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await expect
      .poll(() => hubspot.records.find('contacts', ada)?.properties.jobtitle, { timeout: 60_000 })
      .toBe('Programmer')

    await more(page, 'Write to HubSpot')
    await dialog.getByRole('button', { name: 'Remove property 1' }).click()
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Written back').waitFor({ state: 'detached' })
    expect((await workspace.read()).write_back).toBeNull()
    expect(browser.problems).toEqual([])
  })

  test('whether notes and emails of agents are stored in a system is chosen, and shown', async () => {
    const workspace = new HubSpotWorkspace(tenant)
    await workspace.connect()
    const page = await browser.signedIn(tenant, { path: `/connections/${workspace.connectionId}` })
    const set = async (enabled: boolean) => {
      await more(page, 'Store agents’ activities in HubSpot')
      const dialog = page.getByRole('dialog', { name: 'Store agents’ activities in HubSpot' })
      await dialog.getByRole('switch').setChecked(enabled)
      if (enabled) expect(await checkPage(page, 'connection-activities')).toEqual([])
      await dialog.getByRole('button', { name: 'Save changes' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await set(true)
    await page.locator('dd').getByText('Stored as activities').waitFor()
    expect((await workspace.read()).activities).toEqual({ waiting: 0, error: null })
    await set(false)
    await page.getByText('Stored as activities').waitFor({ state: 'detached' })
    expect((await workspace.read()).activities).toBeNull()
    expect(browser.problems).toEqual([])
  })

  test('why write-back was refused is shown at the row that is wrong, and also if no row is', async () => {
    const workspace = new HubSpotWorkspace(tenant)
    await workspace.connect()
    await tenant.contact('grace@example.com', { jobtitle: 'Admiral' })
    const page = await browser.signedIn(tenant, { path: `/connections/${workspace.connectionId}` })
    await more(page, 'Write to HubSpot')
    const dialog = page.getByRole('dialog', { name: 'Write to HubSpot' })
    const save = dialog.getByRole('button', { name: 'Save changes' })
    const add = async (number: number, target: string) => {
      if (number > 1) await dialog.getByRole('button', { name: 'Add a property' }).click()
      await dialog.getByLabel(`Property ${number}`, { exact: true }).selectOption('jobtitle')
      await dialog.getByLabel(`Field ${number} in HubSpot`).fill(target)
    }
    await add(1, 'lastmodifieddate')
    await add(2, 'city')
    await save.click()
    const problem = dialog.getByText('cannot be written in HubSpot')
    await problem.waitFor()
    await dialog.getByRole('button', { name: 'Remove property 1' }).click()
    await problem.waitFor({ state: 'detached' })
    expect(await dialog.getByLabel('Field 1 in HubSpot').inputValue()).toBe('city')
    expect(await dialog.getByLabel('Field 1 in HubSpot').getAttribute('aria-invalid')).toBeNull()

    // As many as it may have, and one more.
    const properties = Array.from({ length: 50 }, (_, index) => {
      return { property: `property_${index}`, target: `field_${index}`, conflict: 'newest' }
    })
    const write_back = JSON.stringify({ properties, create_missing: false })
    await tenant.handle.db.updateTable('connections').set({ write_back }).execute()
    await reopen(page)
    await more(page, 'Write to HubSpot')
    await add(51, 'city')
    await save.click()
    await dialog.getByRole('alert').getByText('50').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a viewer sees connected systems, but nothing that changes them', async () => {
    const id = await insertConnection(tenant)
    const page = await browser.signedIn(tenant, { path: '/connections/new', role: 'viewer' })
    await page.getByRole('link', { name: 'Pipedrive' }).click()
    await page.waitForURL(`**/connections/${id}`)
    await region(page, 'Failed records').getByRole('cell', { name: '701' }).waitFor()
    for (const name of ['Pull now', 'Pause', 'Resume', 'More', 'Sign in again']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
    expect(await page.getByRole('link', { name: 'Connect a system' }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('the palette leads to the form for a new system', async () => {
    const page = await browser.signedIn(tenant, { path: '/connections' })
    await page.getByRole('heading', { name: 'No connected systems yet' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).getByRole('combobox').fill('pipedrive')
    await page.getByRole('option', { name: 'Connect a system' }).click()
    await page.getByRole('heading', { name: 'Connect a system', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])
  })
})
