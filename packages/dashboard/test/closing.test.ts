import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser

describe.skipIf(!HAS_BROWSER)('closing a workspace', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
  })
  afterAll(() => browser?.close())

  /** Opens the dialog of the settings and closes the workspace. */
  async function close(owner: Page): Promise<void> {
    await openWithin(owner, '/settings/workspace')
    await owner.getByRole('button', { name: 'Close workspace' }).click()
    const dialog = owner.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Close workspace' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Test')
    await confirm.click()
    await owner.getByRole('heading', { name: 'This workspace is closed' }).waitFor()
  }

  const statusOf = async (tenant: TestTenant) => (await tenant.call('GET', '/v1/contacts')).status

  test('an owner types its name, sees when it will be deleted, exports it and reopens it', async () => {
    const tenant = await createTestTenant(service)
    const owner = await browser.signedIn(tenant, { path: '/settings/workspace' })
    await owner.getByRole('button', { name: 'Close workspace' }).waitFor()
    expect(await checkPage(owner, 'settings-workspace-close')).toEqual([])
    await owner.getByRole('button', { name: 'Close workspace' }).click()
    await owner.getByRole('dialog').getByRole('textbox').waitFor()
    expect(await checkPage(owner, 'settings-workspace-closing')).toEqual([])
    await owner.keyboard.press('Escape')
    await close(owner)
    expect(await statusOf(tenant)).toBe(403)
    await owner.getByText(/^Test will be deleted on /).waitFor()
    expect(await checkPage(owner, 'closed')).toEqual([])
    await owner.getByRole('button', { name: 'Export all data' }).click()
    await owner.getByRole('link', { name: 'Download the export' }).waitFor()
    expect(await checkPage(owner, 'closed-exported')).toEqual([])

    // Every page of the workspace leads here.
    await owner.goto(`${service.url}/contacts`)
    await owner.getByRole('heading', { name: 'This workspace is closed' }).waitFor()
    await owner.getByRole('button', { name: 'Reopen workspace' }).click()
    await owner.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(await statusOf(tenant)).toBe(200)
    await owner.goto(`${service.url}/closed`)
    await owner.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('an owner deletes it at once, and has no workspace left', async () => {
    const tenant = await createTestTenant(service)
    const owner = await browser.signedIn(tenant, { path: '/settings/workspace' })
    await close(owner)
    await owner.getByRole('button', { name: 'Delete now' }).click()
    const dialog = owner.getByRole('dialog')
    await dialog.getByRole('textbox').fill('Test')
    expect(await checkPage(owner, 'closed-deleting')).toEqual([])
    await dialog.getByRole('button', { name: 'Delete now' }).click()
    await owner.waitForURL('**/choose-tenant')
    expect(await statusOf(tenant)).toBe(401)
  })

  test('others see that it is closed, and nothing to do but to ask an owner', async () => {
    const tenant = await createTestTenant(service)
    const admin = await browser.signedIn(tenant, { role: 'admin' })
    await close(await browser.signedIn(tenant, { path: '/settings/workspace' }))
    await admin.goto(service.url)
    await admin.getByText('Ask one of its owners to reopen it.').waitFor()
    expect(await admin.getByRole('button').allTextContents()).toEqual(['Sign out'])
  })

  test('an admin does not see how to close it', async () => {
    const tenant = await createTestTenant(service)
    const admin = await browser.signedIn(tenant, { path: '/settings/workspace', role: 'admin' })
    await admin.getByRole('heading', { name: 'Your workspaces' }).waitFor()
    expect(await admin.getByRole('button', { name: 'Close workspace' }).count()).toBe(0)
  })
})
