import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, nextFrame, openBrowser, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' })
const field = (page: Page) => palette(page).getByRole('combobox')
const option = (page: Page, name: string | RegExp) => palette(page).getByRole('option', { name })
/** The focus is in the field; the shortcut is repeated while the page is not ready for it. */
const openPalette = async (page: Page) => {
  await page.keyboard.press('Control+k')
  await field(page).and(page.locator(':focus')).waitFor()
}
const heading = (page: Page, name: string) => page.locator('#main').getByRole('heading', { name, level: 1 }).waitFor()
const path = (page: Page) => new URL(page.url()).pathname

describe.skipIf(!HAS_BROWSER)('the command palette and the shortcuts', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await tenant.contact('ada@example.com', { firstname: 'Ada', lastname: 'Lovelace' })
    await tenant.call('POST', '/v1/companies', { name: 'Analytical Engines', domain: 'engines.example' })
    const filter = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
    await tenant.call('POST', '/v1/segments', { name: 'Everyone with an email', filter })
  })
  afterAll(() => browser?.close())

  test('Ctrl+K finds a contact by name, and the keyboard opens it; then it is among the recent ones', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/keys' })
    await heading(page, 'API keys')
    await openPalette(page)
    await page.keyboard.type('lovela')
    await option(page, /Ada Lovelace/).waitFor()
    expect(await checkPage(page, 'palette-found')).toEqual([])
    await page.keyboard.press('Enter')
    await heading(page, 'Ada Lovelace')
    expect(path(page)).toMatch(/^\/contacts\/./)
    // The page has the focus, not the palette's button.
    await page.locator('#main:focus').waitFor()
    await openPalette(page)
    await palette(page).getByRole('group', { name: 'Recent' }).getByRole('option', { name: 'Ada Lovelace' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).waitFor({ state: 'hidden' })
    // In another tab, and after signing out, nothing of it is left.
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('Lovelace')
    expect(browser.problems).toEqual([])
  })

  test('a contact is created from anywhere, and going back does not open the form again', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/keys' })
    await heading(page, 'API keys')
    await openPalette(page)
    await page.keyboard.type('new contact')
    await option(page, 'Create a contact').waitFor()
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'New contact' })
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe('')
    await openPalette(page)
    await page.keyboard.type('create a contact')
    await page.keyboard.press('Enter')
    await form.getByLabel('Email').fill('from-palette@example.com')
    await form.getByRole('button', { name: 'Create' }).click()
    await heading(page, 'from-palette@example.com')
    await page.goBack()
    await heading(page, 'Contacts')
    expect(await form.count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('companies, segments, pages and actions are found; the arrows move between them', async () => {
    const page = await browser.signedIn(tenant)
    await heading(page, 'Home')
    await openPalette(page)
    await page.keyboard.type('engines')
    await option(page, /Analytical Engines/).waitFor()
    await field(page).fill('everyone')
    await option(page, 'Everyone with an email').waitFor()
    await field(page).fill('zzzz')
    await palette(page).getByText('Nothing matches “zzzz”.').waitFor()
    await field(page).fill('backup')
    await option(page, 'Open the documentation').waitFor()
    await field(page).fill('segment')
    await option(page, 'Create a segment').waitFor()
    const active = () => palette(page).locator('[aria-selected="true"]').textContent()
    expect(await active()).toBe('Segments')
    await page.keyboard.press('ArrowDown')
    await expect.poll(active).toBe('Create a segment')
    await page.keyboard.press('ArrowUp')
    await expect.poll(active).toBe('Segments')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/segments/new')
    // A command that opens no page returns the focus to where it was.
    await openPalette(page)
    await page.keyboard.type('dark')
    await page.keyboard.press('Enter')
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor({ state: 'attached' })
    await openPalette(page)
    await page.keyboard.type('system colours')
    await page.keyboard.press('Enter')
    await openPalette(page)
    await page.keyboard.type('invite')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Invite someone' }).getByLabel('Email').waitFor()
    // A dialog is finished first.
    await page.keyboard.press('Control+k')
    await nextFrame(page)
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(browser.problems).toEqual([])
  })

  test('a viewer is offered only what a viewer may do', async () => {
    const page = await browser.signedIn(tenant, { role: 'viewer' })
    await heading(page, 'Home')
    await page.getByRole('button', { name: 'Search' }).click()
    await field(page).fill('create')
    await palette(page).getByText('Nothing matches “create”.').waitFor()
    for (const [query, page_] of [
      ['audit', 'Audit log'],
      ['invite', 'Invite someone'],
    ] as const) {
      await field(page).fill(query)
      expect(await option(page, page_).count()).toBe(0)
    }
    await field(page).fill('ada')
    await option(page, /Ada Lovelace/).waitFor()
  })

  test('an error of the search is shown', async () => {
    const page = await browser.signedIn(tenant)
    await heading(page, 'Home')
    await page.route('**/v1/contacts?*', (route) =>
      route.fulfill({ status: 400, json: { status: 'error', error: { code: 'bad', message: 'Too short.' } } }),
    )
    await openPalette(page)
    await page.keyboard.type('ada')
    await palette(page).getByRole('alert').getByText('Too short.').waitFor()
    // Pages are still found.
    await field(page).fill('webho')
    await option(page, /^Webhooks/).waitFor()
  })

  test('a script that does not arrive leaves the page as it is, and a reload brings it', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/keys' })
    const session = await page.context().newCDPSession(page)
    await session.send('Network.clearBrowserCache')
    let refused = 0
    const refuse = (route: Route) => {
      refused++
      return route.abort()
    }
    await page.route('**/assets/command-palette*.js', refuse)
    await page.reload()
    // Fetched when the page is idle.
    await expect.poll(() => refused).toBeGreaterThan(0)
    await heading(page, 'API keys')
    await page.keyboard.press('Control+k')
    await page.getByText('This could not be loaded. Check your connection').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.unroute('**/assets/command-palette*.js', refuse)
    // Older browsers, unlike new ones, do not fetch a module again that has failed.
    await page.reload()
    await heading(page, 'API keys')
    await openPalette(page)
    await session.detach()
  })

  test('on a phone it opens from the header', async () => {
    const page = await browser.signedIn(tenant, { width: 360 })
    await page.locator('header').getByRole('button', { name: 'Search' }).click()
    await field(page).fill('ada')
    await option(page, /Ada Lovelace/).click()
    await heading(page, 'Ada Lovelace')
  })

  test('g and a letter open a page, / searches it, and ? lists all shortcuts; not while typing', async () => {
    const page = await browser.signedIn(tenant)
    await heading(page, 'Home')
    await nextFrame(page)
    for (const [key, name] of [
      ['c', 'Contacts'],
      ['s', 'Segments'],
      ['e', 'Activity'],
      ['i', 'Integrations'],
      ['k', 'Hooks'],
      ['a', 'Approvals'],
      ['h', 'Home'],
      ['o', 'Companies'],
    ] as const) {
      // Repeated, because on a busy machine the second key may come too late to belong to the first.
      const go = async () => {
        await page.keyboard.press('g')
        await page.keyboard.press(key)
        return page.locator('#main').getByRole('heading', { name, level: 1 }).isVisible()
      }
      await expect.poll(go, { interval: 1_000, timeout: 60_000 }).toBe(true)
    }
    await page.keyboard.press('/')
    await page.locator('#main input[type="search"]:focus').waitFor()
    await page.keyboard.type('gc?/')
    expect(await page.locator('#main input[type="search"]').inputValue()).toBe('gc?/')
    expect(path(page)).toBe('/companies')
    await page.locator('#main').focus()
    // With a modifier, keys belong to the browser.
    await page.keyboard.press('g')
    await page.keyboard.press('Alt+c')
    expect(path(page)).toBe('/companies')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByRole('row').filter({ hasText: 'Go to contacts' }).waitFor()
    await help.getByRole('table', { name: 'Companies' }).getByText('Next row').waitFor()
    expect(await checkPage(page, 'shortcuts')).toEqual([])
    // The help gives way to the palette, which it names, and leaves the focus there.
    await openPalette(page)
    await help.waitFor({ state: 'hidden' })
    await page.keyboard.type('webh')
    expect(await field(page).inputValue()).toBe('webh')
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await help.getByLabel('Use these shortcuts').click()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'hidden' })
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await nextFrame(page)
    expect(path(page)).toBe('/companies')
    // The palette needs a modifier, so it always works. They are switched on again in the account's menu.
    await openPalette(page)
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Account and workspace' }).click()
    for (const [name, href] of [
      ['Documentation', '/docs'],
      ['API reference', '/docs/api'],
    ] as const) {
      expect(await page.getByRole('menuitem', { name }).getAttribute('href')).toBe(href)
    }
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    await help.getByLabel('Use these shortcuts').click()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'hidden' })
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await heading(page, 'Contacts')
    expect(browser.problems).toEqual([])
  })
})
