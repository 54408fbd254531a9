import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, reopen, type TestBrowser } from './browser.ts'

const SORTED = 'sort_by=lastname&sort_dir=asc'

describe.skipIf(!HAS_BROWSER)('a table', () => {
  let service: TestService
  let browser: TestBrowser

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
  })
  afterAll(() => browser?.close())

  async function tenantOf(count: number): Promise<{ tenant: TestTenant; ids: string[] }> {
    const tenant = await createTestTenant(service)
    const ids = []
    for (let number = 0; number < count; number++) {
      const lastname = `Marsh${String(number).padStart(2, '0')}`
      const properties = { firstname: 'Robin', lastname, country: number < 21 ? 'Norway' : 'Chad', seats: number }
      ids.push(await tenant.contact(`robin${number}@example.com`, properties))
    }
    return { tenant, ids }
  }
  const propertiesOf = async (tenant: TestTenant, id: string) =>
    (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact?.properties
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '')

  test('opens a row by a click anywhere, and by keys; its text can be selected', async () => {
    const { tenant } = await tenantOf(3)
    const page = await browser.signedIn(tenant, { role: 'viewer', path: `/contacts?${SORTED}` })
    await row(page, 'Marsh00').waitFor()
    await page.keyboard.press('j')
    expect(await focused(page)).toContain('Robin Marsh00')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    expect(await focused(page)).toContain('Robin Marsh01')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Shift+X')
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Robin Marsh01', level: 1 }).waitFor()
    await page.goBack()
    await row(page, 'Marsh02').getByText('robin2@example.com').dblclick()
    expect(new URL(page.url()).pathname).toMatch(/^\/contacts/)
    await openWithin(page, `/contacts?${SORTED}`)
    await row(page, 'Marsh02').getByText('robin2@example.com').click()
    await page.getByRole('heading', { name: 'Robin Marsh02', level: 1 }).waitFor()
    await page.goBack()
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      row(page, 'Marsh00')
        .getByText('robin0@example.com')
        .click({ modifiers: ['ControlOrMeta'] }),
    ])
    await tab.close()
    expect(browser.problems).toEqual([])
  })

  test('changes the selected rows, and all that match beyond the page', async () => {
    const { tenant, ids } = await tenantOf(25)
    const filter = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'Norway' }] }
    const path = `/contacts?${SORTED}&filter=${encodeURIComponent(JSON.stringify(filter))}`
    const page = await browser.signedIn(tenant, { role: 'member', path })
    await page.getByText('1–20 of 21').waitFor()
    await page.getByRole('checkbox', { name: 'Select Robin Marsh01' }).check()
    await page.getByRole('checkbox', { name: 'Select Robin Marsh03' }).click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').waitFor()
    expect(await checkPage(page, 'contacts-selected')).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ])
    expect((await readFile(await download.path(), 'utf8')).trim().split('\r\n').length).toBe(4)
    await page.getByRole('button', { name: 'Set property' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set a property of 3 contacts' })
    await dialog.getByLabel('Property').selectOption('city')
    await dialog.getByLabel('Value').fill('Oslo')
    expect(await checkPage(page, 'bulk-property')).toEqual([])
    await dialog.getByRole('button', { name: 'Change 3 contacts' }).click()
    await dialog.getByText('3 contacts changed.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    expect((await propertiesOf(tenant, ids[2] ?? '')).city).toBe('Oslo')
    expect((await propertiesOf(tenant, ids[4] ?? '')).city).toBeUndefined()

    await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
    await page.getByRole('button', { name: 'Select all 21 matching' }).click()
    await page.getByText('21 selected').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    const confirm = page.getByRole('dialog', { name: 'Delete 21 contacts?' })
    const button = confirm.getByRole('button', { name: 'Delete 21 contacts' })
    expect(await button.isDisabled()).toBe(true)
    await confirm.getByLabel('Type delete to confirm').fill('delete')
    await button.click()
    await confirm.getByText('21 contacts deleted.').waitFor()
    await confirm.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('heading', { name: 'No contact matches' }).waitFor()
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(4)
    expect(browser.problems).toEqual([])
  })

  test('moves contacts to a company, and reports those that failed', async () => {
    const { tenant, ids } = await tenantOf(2)
    const { body } = await tenant.call('POST', '/v1/companies', { name: 'Moorland', domain: 'moorland.example' })
    const page = await browser.signedIn(tenant, { role: 'member', path: `/contacts?${SORTED}` })
    await page.getByRole('checkbox', { name: 'Select all rows on this page' }).check()
    await tenant.call('DELETE', `/v1/contacts/${ids[0]}`)
    await page.getByRole('button', { name: 'Set company' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Find a company').fill('moor')
    await dialog.getByRole('button', { name: 'Moorland · moorland.example' }).click()
    await dialog.getByText('Company: Moorland').waitFor()
    await dialog.getByRole('button', { name: 'Change 2 contacts' }).click()
    await dialog.getByText('1 contact could not be changed:').waitFor()
    expect(await checkPage(page, 'bulk-failed')).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    expect((await tenant.call('GET', `/v1/contacts/${ids[1]}`)).body.contact.company_id).toBe(body.company.company_id)
    expect(browser.problems).toEqual([])
  })

  test('edits a value in its cell, unless somebody else changed it meanwhile', async () => {
    const { tenant, ids } = await tenantOf(2)
    const [first = ''] = ids
    const page = await browser.signedIn(tenant, {
      role: 'member',
      path: `/contacts?${SORTED}&columns=name,country,seats`,
    })
    await row(page, 'Marsh00').waitFor()
    await page.keyboard.press('j')
    // The checkbox, the link, then the first value.
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Country' }).fill('Sweden')
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: 'Norway' }).first().waitFor()
    const edit = row(page, 'Marsh00').getByRole('button', { name: 'Edit Country: Norway' })
    expect(await edit.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Country' }).fill('Sweden')
    await page.keyboard.press('Enter')
    await row(page, 'Marsh00').getByText('Sweden').waitFor()
    await expect.poll(() => propertiesOf(tenant, first)).toMatchObject({ country: 'Sweden', seats: 0 })
    await row(page, 'Marsh00').getByRole('button', { name: 'Edit Seats: 0' }).press('Enter')
    const seats = page.getByRole('textbox', { name: 'Seats' })
    await seats.fill('12')
    await tenant.call('PUT', `/v1/contacts/${first}`, { properties: { seats: 7 } })
    await seats.press('Enter')
    await page.getByRole('alert').getByText('Someone else has changed this contact.').waitFor()
    expect(await seats.inputValue()).toBe('12')
    expect(await checkPage(page, 'cell-conflict')).toEqual([])
    await seats.press('Enter')
    await row(page, 'Marsh00').getByRole('button', { name: 'Edit Seats: 12' }).waitFor()
    await expect.poll(() => propertiesOf(tenant, first)).toMatchObject({ seats: 12 })

    const viewer = await browser.signedIn(tenant, { role: 'viewer', path: '/contacts' })
    await row(viewer, 'Marsh00').waitFor()
    expect(await viewer.getByRole('button', { name: /^Edit / }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('keeps the order and the widths of its columns for the person', async () => {
    const { tenant } = await tenantOf(1)
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    const headers = async () => (await page.getByRole('columnheader').allTextContents()).filter((text) => text !== '')
    await row(page, 'Marsh00').waitFor()
    expect((await headers()).slice(0, 3)).toEqual(['Name', 'Email', 'Company'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Move Company.' }).press('ArrowUp')
    expect(await checkPage(page, 'columns')).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await headers()).slice(0, 3)).toEqual(['Name', 'Company', 'Email'])
    const edge = page.getByRole('separator', { name: 'Width of Company' })
    expect(await edge.getAttribute('aria-valuenow')).toBe('145')
    await edge.press('ArrowRight')
    const box = await page.getByRole('separator', { name: 'Width of Email' }).boundingBox()
    await page.mouse.move((box?.x ?? 0) + 4, (box?.y ?? 0) + 8)
    await page.mouse.down()
    await page.mouse.move((box?.x ?? 0) + 54, (box?.y ?? 0) + 8)
    await page.mouse.up()
    await reopen(page)
    await row(page, 'Marsh00').waitFor()
    expect((await headers()).slice(0, 3)).toEqual(['Name', 'Company', 'Email'])
    const widthOf = (name: string) =>
      page.getByRole('separator', { name: `Width of ${name}` }).getAttribute('aria-valuenow')
    expect([await widthOf('Company'), await widthOf('Email')]).toEqual(['161', '275'])
    await page
      .getByRole('columnheader', { name: 'Stage' })
      .getByText('Stage')
      .dragTo(page.getByRole('columnheader', { name: 'Company' }))
    await expect.poll(async () => (await headers()).slice(0, 3)).toEqual(['Name', 'Stage', 'Company'])
    const other = await browser.signedIn(tenant, { role: 'viewer', path: '/contacts' })
    await row(other, 'Marsh00').waitFor()
    expect((await other.getByRole('columnheader').allTextContents()).filter(Boolean)[1]).toBe('Email')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Reset to default' }).click()
    await expect.poll(async () => (await headers()).slice(0, 3)).toEqual(['Name', 'Email', 'Company'])
    expect(browser.problems).toEqual([])
  })

  test('is filtered by segment, and its filter becomes a segment', async () => {
    const { tenant } = await tenantOf(22)
    const filter = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'Chad' }] }
    await tenant.call('POST', '/v1/segments', { name: 'In Chad', filter })
    await expect.poll(async () => (await tenant.call('GET', '/v1/segments')).body.segments[0].contact_count).toBe(1)
    const page = await browser.signedIn(tenant, { role: 'member', path: '/contacts' })
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Filter' })
    await form.getByLabel('Segment').selectOption('In Chad')
    await form.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('button', { name: 'Remove the filter In segment In Chad' }).click()
    await page.getByText('of 22').waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await form.getByRole('button', { name: 'Property', exact: true }).click()
    await form.getByRole('combobox', { name: 'Property' }).fill('seats')
    await page.getByRole('option', { name: /^Seats/ }).click()
    await form.getByLabel('Comparison').selectOption('gte')
    await form.getByRole('combobox', { name: 'Value', exact: true }).last().fill('20')
    await form.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–2 of 2').waitFor()
    await page.getByRole('button', { name: 'Save as segment…' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Many seats')
    await page.getByRole('button', { name: 'Create segment' }).click()
    await page.getByRole('heading', { name: 'Many seats', level: 1 }).waitFor()
    await page.getByText('1–2 of 2').waitFor()
    expect(browser.problems).toEqual([])
  })
})
