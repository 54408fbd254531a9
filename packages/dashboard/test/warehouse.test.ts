import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type ObjectStorage, STORAGE_KEY, startObjectStorage } from '../../server/test/object-storage.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let storage: ObjectStorage
let browser: TestBrowser
let tenant: TestTenant
let directory: string

describe.skipIf(!HAS_BROWSER)('exports to a warehouse', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cds-warehouse-'))
    storage = await startObjectStorage()
    service = await startTestService({ CDS_WAREHOUSE_DIR: directory, CDS_WAREHOUSE_ALLOW_PRIVATE: 'on' })
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await tenant.contact('ada@example.com')
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await storage?.close()
    await rm(directory, { recursive: true, force: true })
  })

  test('a destination is created, fails, gets another key, exports, is paused and deleted', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/warehouse' })
    await page.getByRole('heading', { name: 'No export destinations yet' }).waitFor()
    await page.getByRole('button', { name: 'New destination' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly')
    await page.getByRole('textbox', { name: 'Endpoint' }).fill('https://127.0.0.1:22')
    await page.getByRole('textbox', { name: 'Bucket' }).fill('exports')
    await page.getByRole('textbox', { name: 'Region' }).fill('eu-test-1')
    await page.getByRole('textbox', { name: 'Access key ID' }).fill(STORAGE_KEY.access_key_id)
    await page.getByLabel('Secret access key').first().fill('wrong-secret')
    await page.getByLabel('Schedule').selectOption('cron')
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 6 * * 1-5')
    await screenshot(page, 'warehouse-new')
    expect(await checkPage(page, 'warehouse-form')).toEqual([])
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByRole('alert').getByText('Port 22').waitFor()
    await page.getByRole('textbox', { name: 'Endpoint' }).fill(storage.url)
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByRole('heading', { name: 'Nightly', level: 1 }).waitFor()
    await page.getByText('0 6 * * 1-5, UTC').waitFor()
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('SignatureDoesNotMatch').first().waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('alert').getByText('Next attempt').waitFor()
    await page.getByRole('cell', { name: 'failing' }).waitFor()
    expect(await checkPage(page, 'warehouse-failing')).toEqual([])

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('checkbox', { name: 'Replace the access key' }).check()
    await page.getByLabel('Secret access key').first().fill(STORAGE_KEY.secret_access_key)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('cell', { name: 'exported' }).waitFor()
    expect(await page.content()).not.toContain(STORAGE_KEY.secret_access_key)
    expect([...storage.objects.keys()]).toContain('exports/latest.json')
    expect(await checkPage(page, 'warehouse-destination')).toEqual([])

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await page.getByText('paused').waitFor()
    await page.getByRole('link', { name: 'Warehouse' }).last().click()
    await page.getByRole('link', { name: 'Nightly' }).waitFor()
    expect(await checkPage(page, 'warehouse')).toEqual([])
    await page.getByRole('link', { name: 'Nightly' }).click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete destination' }).click()
    await page.getByRole('heading', { name: 'No export destinations yet' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a viewer sees destinations but no controls', async () => {
    await tenant.call('POST', '/v1/warehouse', { name: 'Folder', type: 'folder' })
    const page = await browser.signedIn(tenant, { path: '/settings/warehouse', role: 'viewer' })
    await page.getByRole('link', { name: 'Folder' }).click()
    await page.getByRole('heading', { name: 'Folder', level: 1 }).waitFor()
    for (const name of ['Run now', 'Test', 'More', 'New destination']) {
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
    }
  })
})
