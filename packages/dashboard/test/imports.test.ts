import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { act, uploaded } from '../../server/test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, reopen, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

const HUBSPOT = new URL('../../server/src/imports/fixtures/hubspot.csv', import.meta.url)

describe.skipIf(!HAS_BROWSER)('the imports', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(() => browser?.close())

  test('a file is uploaded, mapped, previewed, imported and undone', async () => {
    await tenant.contact('outsider@example.com')
    await tenant.contact('ada@analytical.example', { firstname: 'Augusta', jobtitle: 'Poet' })
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    await page.getByRole('link', { name: 'Import' }).click()
    await page.getByText('Drop a CSV file here').waitFor()
    expect(await checkPage(page, 'import-file')).toEqual([])
    await page.locator('input[type=file]').setInputFiles({
      name: 'contacts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]),
    })
    await page.getByRole('alert').getByText('is a picture').waitFor()
    const buffer = Buffer.concat([await readFile(HUBSPOT), Buffer.from('"154","Not","An Address","nobody"\n')])
    await page.locator('input[type=file]').setInputFiles({ name: 'hubspot.csv', mimeType: 'text/csv', buffer })

    await page.getByText('This looks like an export from HubSpot.').waitFor()
    expect(page.url()).toContain('step=mapping')
    const target = (name: string) => page.getByRole('combobox', { name: `Where ${name} goes` })
    expect(await target('Email').inputValue()).toBe('Email')
    expect(await target('Record ID').inputValue()).toBe('External ID')
    expect(await target('Company Name').inputValue()).toBe('Company name')
    await page.getByRole('list', { name: 'Columns of the file' }).getByText('ada@analytical.example').waitFor()
    // Two columns cannot have the same target.
    const choose = async (name: string, option: string) => {
      await target(name).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    await choose('Contact owner', 'Email')
    await page.getByText('Email goes there too.').waitFor()
    expect(await checkPage(page, 'import-mapping')).toEqual([])
    expect(await page.getByRole('button', { name: 'Preview' }).last().isDisabled()).toBe(true)
    await choose('Contact owner', 'New property…')
    await page.getByLabel('New property for Contact owner').fill('owner')
    await page.getByLabel('How Contact owner is stored').selectOption('Text')
    await choose('Create Date', 'Do not import')
    await page.getByRole('button', { name: 'Preview', exact: true }).last().click()

    await page.getByRole('heading', { name: 'What the import will do' }).waitFor()
    expect(page.url()).toContain('step=preview')
    const rows = page.getByRole('region', { name: 'First rows of the file' })
    await rows.getByText('Augusta').waitFor()
    await rows.getByText('First name').first().waitFor()
    await rows.getByText('has 4 cells, but the header has 15').waitFor()
    await screenshot(page, 'import-preview')
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(2)
    // The step is in the URL, and the mapping with the service.
    await reopen(page)
    await rows.getByText('Augusta').waitFor()
    await page.getByRole('button', { name: 'Change the mapping' }).click()
    expect(await page.getByLabel('New property for Contact owner').inputValue()).toBe('owner')
    await page.goBack()
    await page.getByRole('button', { name: 'Import 4 rows' }).click()

    await page.getByRole('heading', { name: 'The import is complete' }).waitFor()
    expect(page.url()).toContain('step=import')
    await page.getByText('One row failed.').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download failed rows' }).click(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toContain('154,Not,An Address,nobody')
    await screenshot(page, 'import-result')
    // The list was read before the import, and its columns too.
    await page.getByRole('link', { name: 'View contacts' }).click()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('dialog').getByText('Owner', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.goBack()
    const { body } = await tenant.call('GET', '/v1/contacts?search=ada')
    expect(body.contacts[0].properties).toMatchObject({ firstname: 'Ada', jobtitle: 'Countess', owner: 'Grace Hopper' })
    await tenant.call('PUT', `/v1/contacts/${body.contacts[0].contact_id}`, {
      properties: { jobtitle: 'Mathematician' },
    })

    await page.getByRole('link', { name: 'View contacts' }).click()
    await page.getByText('From the import hubspot.csv').waitFor()
    expect(new URL(page.url()).searchParams.get('import_id')).not.toBeNull()
    const listed = page.getByRole('region', { name: 'Contacts', exact: true })
    await listed.getByText('ada@analytical.example').waitFor()
    expect(await listed.getByText('outsider@example.com').count()).toBe(0)
    await page.goBack()

    await page.getByRole('button', { name: 'Undo the import' }).click()
    await page.getByText('Contacts and companies that the import created are deleted').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo the import' }).click()
    await page.getByRole('heading', { name: 'The import was undone' }).waitFor()
    await page.getByText('2 contacts were deleted and 1 restored. 1 contact has changed since').waitFor()
    await page.getByRole('region', { name: 'Kept contacts' }).getByText('jobtitle').waitFor()
    expect(await checkPage(page, 'import-undone')).toEqual([])
    await page.getByRole('link', { name: 'View contacts' }).click()
    await listed.getByText('ada@analytical.example').waitFor()
    await listed.getByRole('link', { name: 'outsider@example.com' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Remove the filter From the import/ }).click()
    await listed.getByRole('link', { name: 'outsider@example.com' }).waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByRole('link', { name: 'Imports' }).click()
    await page.getByRole('heading', { name: 'Imports', level: 1 }).waitFor()
    await page.getByText('undone', { exact: true }).waitFor()
    expect(await checkPage(page, 'imports')).toEqual([])
    await page.getByRole('link', { name: 'hubspot.csv' }).click()
    await page.getByRole('region', { name: 'Kept contacts' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('the mapping is saved while it is edited, as far as it is correct', async () => {
    const { import_id } = await uploaded(tenant, 'Email,Town\nada@example.com,Rome\n', 'towns.csv')
    const page = await browser.signedIn(tenant, { path: `/imports/${import_id}` })
    const town = page.getByRole('combobox', { name: 'Where Town goes' })
    await page.getByText('Changes are saved as you make them.').waitFor()
    const saving = Promise.withResolvers<void>()
    await page.route('**/mapping', async (route) => {
      await saving.promise
      await route.continue()
    })
    await town.click()
    await page.getByRole('option', { name: 'City', exact: true }).click()
    // At once, before it is saved.
    await page.getByRole('link', { name: 'Imports' }).click()
    await page.getByRole('link', { name: 'towns.csv' }).click()
    expect(await town.inputValue()).toBe('City')
    saving.resolve()
    await town.click()
    await page.getByRole('option', { name: 'Email', exact: true }).click()
    await page.getByText('Changes are saved once every column is correct.').waitFor()
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/imports/${import_id}`)).body.import.mapping)
      .toMatchObject([{ target: 'email' }, { target: 'property', property: 'city' }])
    await tenant.call('POST', `/v1/imports/${import_id}/cancel`)
    expect(browser.problems).toEqual([])
  })

  test('a person sees how the file is read, chooses another way, and sees whom the import silences', async () => {
    // Only the source that said an opt-out can take it back, such as an earlier file.
    const earlier = await uploaded(tenant, 'email,opted_out\nback@acme.example,1\n')
    await act(tenant, earlier, 'start', 'completed')
    const rows = [
      'Contacts of the fair;;;;;',
      '',
      'ID;Title;Job Title;E-Mail-Adresse;Ort;opted_out',
      'undefined;Dr.;CEO;out@acme.example;M\x9fnchen;1',
      '8;;Buyer;back@acme.example;Ulm;0',
      '9;;"open;cut@acme.example;Ulm;0',
    ]
    const buffer = Buffer.from(`${rows.join('\n')}\n`, 'latin1')
    const page = await browser.signedIn(tenant, { path: '/imports/new' })
    await page.locator('input[type=file]').setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer })

    const format = page.getByRole('region', { name: 'How the file is read' })
    const chosen = (label: string) => format.getByLabel(label).locator('option:checked').textContent()
    await format.waitFor()
    expect(await chosen('Encoding')).toBe('Western European (Mac) · München')
    expect(await chosen('Header row')).toContain('Line 3: ID, Title, Job Title')
    expect(await chosen('Separator')).toBe('Semicolon')
    await page.getByText('Job title comes from Job Title, so this column becomes a property of its own.').waitFor()
    await page.getByText('Contacts who opt out in this column get no mail.').waitFor()
    await screenshot(page, 'import-format')
    expect(await checkPage(page, 'import-format')).toEqual([])

    const mapping = page.getByRole('list', { name: 'Columns of the file' })
    await mapping.getByText('München').waitFor()
    await format.getByLabel('Encoding').selectOption('windows-1252')
    await mapping.getByText('MŸnchen').waitFor()
    await format.getByLabel('Header row').selectOption('1')
    await mapping.getByText('Contacts of the fair').waitFor()
    await page.getByText('Its values are email addresses.').waitFor()
    await format.getByLabel('Header row').selectOption('3')
    await format.getByLabel('Encoding').selectOption('macintosh')
    await mapping.getByText('München').waitFor()
    // The column that was left out can be chosen instead.
    const choose = async (name: string, option: string) => {
      await page.getByRole('combobox', { name: `Where ${name} goes` }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    await choose('Job Title', 'Do not import')
    await choose('Title', 'Job title')
    await page.getByRole('button', { name: 'Preview', exact: true }).last().click()

    await page.getByText('1 contact will get no mail, because of opted_out.').waitFor()
    await page.getByText('1 contact that opted out will get mail again').waitFor()
    await page.getByText('names nobody and was ignored').waitFor()
    await page.getByText('Line 6 has a quotation mark that is not closed').waitFor()
    await screenshot(page, 'import-consent')
    expect(await checkPage(page, 'import-consent')).toEqual([])
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByRole('heading', { name: 'The import is complete' }).waitFor()
    await page.getByText('According to the preview, 1 contact gets no mail, because of opted_out.').waitFor()
    await page.getByText('1 contact that opted out gets mail again').waitFor()
    await page.getByText('names nobody and was ignored').waitFor()
    await screenshot(page, 'import-consent-done')
    const { body } = await tenant.call('GET', '/v1/contacts?search=out@acme.example')
    expect(body.contacts[0].properties).toMatchObject({ jobtitle: 'Dr.', city: 'München', opted_out: '1' })
    expect(browser.problems).toEqual([])
  })

  test('names, dates and money of a file are understood, and a guess is changed in one click', async () => {
    const rows = [
      'Name,Org.,Phone #,E-mail Address,Birthday,Joined,Paid,Interests',
      'Dr. Maria van der Berg,Kranich GmbH,0041 31 000 00 00,maria@kranich.example,31.12.1985,03/04/2026,"€ 1.234,50","optics, lasers"',
      '"Hopper, Grace",Navy,+1 202 555 0100,grace@navy.example,09.12.1986,05/06/2026,"€ 99,00",ships',
      'Tom Ruiz,Lumen,,tom@lumen.example,31.02.1990,01/02/2026,"€ 7,10",',
    ]
    const buffer = Buffer.from(`${rows.join('\n')}\n`)
    const page = await browser.signedIn(tenant, { path: '/imports/new' })
    await page.locator('input[type=file]').setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer })

    const target = (name: string) => page.getByRole('combobox', { name: `Where ${name} goes` })
    const format = (name: string) => page.getByLabel(`How ${name} is stored`).locator('option:checked').textContent()
    const column = (name: string) => page.getByRole('listitem').filter({ has: target(name) })
    await target('Name').waitFor()
    expect(await target('Name').inputValue()).toBe('Full name (first and last)')
    expect(await target('Org.').inputValue()).toBe('Company name')
    await column('Name').getByText('van der Berg', { exact: true }).waitFor()
    expect(await format('Phone #')).toBe('Phone number')
    await column('Phone #').getByText('+41 31 000 00 00').waitFor()
    expect(await format('Birthday')).toBe('Date (31/12/2026)')
    await column('Birthday').getByText('1985-12-31').waitFor()
    expect(await format('Paid')).toBe('Number (1.250,50)')
    await column('Paid').getByText('1234.5').waitFor()
    expect(await format('Interests')).toBe('List, divided by commas')
    await screenshot(page, 'import-formats')
    expect(await checkPage(page, 'import-formats')).toEqual([])
    // 3 April or 4 March: Birthday shows how this file writes dates, but nothing in the column does.
    await column('Joined').getByText('2026-04-03').waitFor()
    await column('Joined').getByRole('button', { name: 'Use date (12/31/2026)' }).click()
    await column('Joined').getByText('2026-03-04').waitFor()
    expect(await format('Joined')).toBe('Date (12/31/2026)')
    await page.getByRole('button', { name: 'Preview', exact: true }).last().click()

    const preview = page.getByRole('region', { name: 'First rows of the file' })
    await preview.getByText('van der Berg', { exact: true }).waitFor()
    await preview.getByText('“31.02.1990” in Birthday is not a date.').waitFor()
    await page.getByLabel('Tag these contacts').fill('Fair 2026')
    await screenshot(page, 'import-tag')
    expect(await checkPage(page, 'import-tag')).toEqual([])
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByRole('heading', { name: 'The import is complete' }).waitFor()
    await page.getByText('Contacts in the file are tagged “Fair 2026”.').waitFor()
    expect(await checkPage(page, 'import-tagged')).toEqual([])
    await page.getByRole('button', { name: 'Create a segment' }).click()
    await page.getByRole('heading', { name: 'Fair 2026', level: 1 }).waitFor()
    await page.getByText('maria@kranich.example').first().waitFor()
    await page.getByText('grace@navy.example').first().waitFor()
    const { body } = await tenant.call('GET', '/v1/contacts?search=maria@kranich.example')
    expect(body.contacts[0].properties).toMatchObject({
      firstname: 'Maria',
      lastname: 'van der Berg',
      company: 'Kranich GmbH',
      birthday: '1985-12-31',
      Joined: '2026-03-04',
      Paid: 1234.5,
      Interests: ['optics', 'lasers'],
      tags: ['Fair 2026'],
    })
    expect(browser.problems).toEqual([])
  })

  test('the next file with the same columns is mapped as the last one, unless a person starts over', async () => {
    const first = await uploaded(tenant, 'E-Mail;Town;Level\nada@levels.example;Rome;3\n', 'levels of May.csv')
    const columns = [
      { column: 0, target: 'email' },
      { column: 2, target: 'property', property: 'shoe size', type: 'number' },
    ]
    await tenant.call('PUT', `/v1/imports/${first.import_id}/mapping`, { columns })
    await act(tenant, first, 'start', 'completed')
    const page = await browser.signedIn(tenant, { path: '/imports/new' })
    const buffer = Buffer.from('Level;E-Mail;Town\n4;bob@levels.example;Oslo\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'levels of June.csv', mimeType: 'text/csv', buffer })
    await page.getByText('Mapped as in levels of May.csv on').waitFor()
    const target = (name: string) => page.getByRole('combobox', { name: `Where ${name} goes` })
    expect(await target('Town').inputValue()).toBe('Do not import')
    expect(await target('Level').inputValue()).toBe('Shoe size')
    await screenshot(page, 'import-remembered')
    expect(await checkPage(page, 'import-remembered')).toEqual([])
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText('Mapped as in').waitFor({ state: 'detached' })
    expect(await target('Town').inputValue()).toBe('City')
    expect(await page.getByLabel('New property for Level').inputValue()).toBe('Level')
    await tenant.call('POST', `/v1/imports/${new URL(page.url()).pathname.split('/').at(-1)}/cancel`)
    expect(browser.problems).toEqual([])
  })

  test('an import is discarded, and the list says so', async () => {
    const { import_id } = await uploaded(tenant, await readFile(HUBSPOT, 'utf8'), 'people.csv')
    const page = await browser.signedIn(tenant, { path: `/imports/${import_id}` })
    await page.getByRole('list', { name: 'Columns of the file' }).waitFor()
    await page.getByRole('button', { name: 'Preview', exact: true }).last().click()
    await page.getByRole('region', { name: 'First rows of the file' }).waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard the import' }).click()
    await page.getByText('cancelled').first().waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a viewer cannot import', async () => {
    const page = await browser.signedIn(tenant, { path: '/imports', role: 'viewer' })
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Import' }).count()).toBe(0)
  })
})
