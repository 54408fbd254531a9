import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, reopen, screenshot, show, type TestBrowser } from './browser.ts'

const NORWAY = `filter=${encodeURIComponent(
  JSON.stringify({ match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'Norway' }] }),
)}`

describe.skipIf(!HAS_BROWSER)('the list of contacts', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    for (let number = 0; number < 24; number++) {
      const lastname = `Marsh${String(number).padStart(2, '0')}`
      await tenant.contact(`robin${number}@example.com`, {
        firstname: 'Robin',
        lastname,
        company: 'Moorland',
        jobtitle: 'Keeper',
        lifecyclestage: number % 2 ? 'lead' : 'customer',
        country: number === 0 ? '=HYPERLINK("https://evil.example")' : 'Norway',
      })
    }
    await tenant.contact('grace@example.com', { firstname: 'Grace', lastname: 'Hopper' }, { visitor_id: 'grace' })
    await tenant.track({
      visitor_id: 'grace',
      events: [{ event: 'page_view', url: `https://${tenant.site}/pricing`, title: 'Pricing' }],
    })
  })
  afterAll(() => browser?.close())

  test('is paged and sorted by the service, and the address stores both', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    const rows = page.getByRole('table').getByRole('row')
    await page.getByText('1–20 of 25').waitFor()
    expect(await rows.count()).toBe(21)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('21–25 of 25').waitFor()
    expect(new URL(page.url()).search).toBe('?page=2')
    await page.getByRole('button', { name: 'Name' }).click()
    await page.waitForURL('**/contacts?sort_by=lastname&sort_dir=asc')
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor()
    expect(await rows.nth(1).textContent()).toContain('Grace Hopper')
    expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending')
    await page.reload()
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor()
    // The history contains the earlier states.
    await page.goBack()
    await page.getByText('21–25 of 25').waitFor()
    await page.goBack()
    await page.getByText('1–20 of 25').waitFor()
    const next = page.waitForRequest((request) => request.url().includes('/v1/contacts?page=2'))
    await reopen(page)
    await page.getByRole('button', { name: 'Next page' }).hover()
    await next
    expect(browser.problems).toEqual([])
  })

  test('has one line a row: an address that does not fit is cut, not broken', async () => {
    const own = await createTestTenant(service)
    await own.contact('a@b.example')
    await own.contact('a.person.with.a.long.name@a-company-with-a-long-domain.example')
    const page = await browser.signedIn(own, { path: '/contacts' })
    const rows = page.getByRole('table').getByRole('row')
    await page.getByText('1–2 of 2').waitFor()
    const heightOf = async (position: number) => (await rows.nth(position).boundingBox())?.height ?? 0
    // Fractions of a pixel apart; a second line would add 22.
    expect(Math.abs((await heightOf(1)) - (await heightOf(2)))).toBeLessThan(2)
  })

  test('is searched while typing, and filtered like a segment', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    await page.getByLabel('Search name, email, company, title').fill('hopper')
    await page.getByText('1–1 of 1').waitFor()
    await page.waitForURL('**/contacts?search=hopper')
    await page.getByLabel('Search name, email, company, title').fill('')
    await page.getByText('of 25').waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Filter' })
    await form.getByRole('button', { name: 'Event' }).click()
    await form.locator('input[aria-label="Event"]').fill('page_view')
    await page.getByRole('option', { name: /page_view/ }).click()
    expect(await checkPage(page, 'contacts-filter')).toEqual([])
    await form.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–1 of 1').waitFor()
    expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual({
      match: 'all',
      conditions: [{ event: { type: 'page_view' }, operator: 'did' }],
    })
    await page.getByRole('button', { name: /^Remove the filter/ }).click()
    await page.getByText('of 25').waitFor()
    const nobody = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'Atlantis' }] }
    await openWithin(page, `/contacts?page=minus&filter=${encodeURIComponent(JSON.stringify(nobody))}`)
    await page.getByRole('heading', { name: 'No contact matches' }).waitFor()
    expect(await checkPage(page, 'contacts-none')).toEqual([])
    await openWithin(page, '/contacts?filter={broken')
    await page.getByText('of 25').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('stays visible when the service is down, and says what to do when the session has ended', async () => {
    // A used tab may already have the next page's script.
    const page = await browser.signedIn(tenant, { fresh: true, path: '/segments' })
    await page.getByRole('heading', { name: 'No segments yet' }).waitFor()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'New segment' }).first().click()
    await page.getByRole('alert').getByText('The service did not respond.').waitFor()
    await screenshot(page, 'offline')
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'New segment' }).waitFor()
    expect(browser.problems.splice(0).join()).toContain('The service did not respond.')

    await show(page, '/no-such-page')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('button', { name: 'New contact' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('late@example.com')
    await page.context().clearCookies()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Your session has ended.').waitFor()
    expect(await dialog.getByLabel('Email').inputValue()).toBe('late@example.com')
    expect(browser.problems).toEqual([])
  })

  test('restores the focus when a dialog closes, and keeps it near a removed filter', async () => {
    const page = await browser.signedIn(tenant, { path: `/contacts?${NORWAY}` })
    const views = page.getByRole('button', { name: 'Views' })
    await views.press('Enter')
    await page.getByRole('menuitem', { name: 'Save this view…' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // Shortly after the dialog has closed.
    await expect.poll(() => views.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.getByRole('button', { name: /^Remove the filter Country/ }).press('Enter')
    await page.getByText('of 25').waitFor()
    const filters = page.getByRole('button', { name: 'Filter', exact: true })
    expect(await filters.evaluate((button) => button === document.activeElement)).toBe(true)
    expect(browser.problems).toEqual([])
  })

  test('is saved as a view for the team, with its columns', async () => {
    const page = await browser.signedIn(tenant, { path: `/contacts?${NORWAY}&sort_by=email&sort_dir=asc` })
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Job title' }).uncheck()
    await page.getByRole('checkbox', { name: 'City' }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'City' }).waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Up north')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Up north' }).waitFor()

    const viewer = await browser.signedIn(tenant, { role: 'viewer', path: '/contacts' })
    await viewer.getByRole('button', { name: 'Views' }).click()
    await viewer.getByRole('menuitem', { name: 'Up north' }).click()
    await viewer.getByRole('columnheader', { name: 'City' }).waitFor()
    expect(await viewer.getByRole('columnheader', { name: 'Job title' }).count()).toBe(0)
    expect(new URL(viewer.url()).searchParams.get('filter')).toContain('Norway')
    await viewer.getByRole('button', { name: 'Up north' }).click()
    expect(await viewer.getByRole('menuitem', { name: 'Save this view…' }).count()).toBe(0)
    expect(await viewer.getByRole('button', { name: 'New contact' }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('is exported with its filters, without formulas', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts?search=robin&columns=name,email,country' })
    await page.getByText('of 24').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export contacts as CSV' }).click(),
    ])
    const csv = await readFile(await download.path(), 'utf8')
    expect(csv.trim().split('\r\n').length).toBe(25)
    expect(csv).toContain('robin23@example.com')
    expect(csv).not.toMatch(/(^|,|")=HYPERLINK/m)
    expect(browser.problems).toEqual([])
  })

  test('creates a contact, and reports an address that is in use', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    await page.getByRole('button', { name: 'New contact' }).click()
    await page.getByRole('textbox', { name: 'Email' }).fill('grace@example.com')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').getByRole('link', { name: 'Open it' }).waitFor()
    expect(await checkPage(page, 'contact-new')).toEqual([])
    await page.getByRole('textbox', { name: 'Email' }).fill('jean@example.com')
    await page.getByLabel('First name').fill('Jean')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Jean', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('prefetches a contact when its name is hovered', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts?search=hopper' })
    const name = page.getByRole('link', { name: 'Grace Hopper' })
    await name.waitFor()
    const reading = page.waitForRequest(/\/v1\/contacts\/[0-9a-f-]{36}\?/)
    await name.hover()
    await reading
    expect(new URL(page.url()).pathname).toBe('/contacts')
    expect(browser.problems).toEqual([])
  })

  test('can be used by keyboard', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts?sort_by=lastname&sort_dir=asc' })
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    const seen: string[] = []
    for (let step = 0; step < 40 && seen.at(-1) !== 'Grace Hopper'; step++) {
      await page.keyboard.press('Tab')
      seen.push(await focused())
    }
    expect(seen.slice(-1)).toEqual(['Grace Hopper'])
    expect(seen).toEqual(expect.arrayContaining(['Filter', 'Views', 'Columns']))
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toMatch(/^Robin Marsh|^Jean/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])

    function focused(): Promise<string> {
      return page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
    }
  })
})
