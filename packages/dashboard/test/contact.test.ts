import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../server/src/platform/ids.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import {
  accessibilityProblems,
  checkPage,
  openBrowser,
  openWithin,
  reopen,
  screenshot,
  type TestBrowser,
} from './browser.ts'

const NOTE =
  'Asked for **pricing**.\n\n- call back\n- [our page](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |'

describe.skipIf(!HAS_BROWSER)("a contact's page", () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser
  let contactId: string
  let path: string

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const { body } = await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
    contactId = await tenant.contact(
      'ada@engines.example',
      { firstname: 'Ada', lastname: 'Byron', jobtitle: 'Analyst', lifecyclestage: 'lead', seats: 12 },
      { visitor_id: 'ada', company_id: body.company.company_id },
    )
    await tenant.call('POST', '/v1/sources/hubspot/contacts', {
      records: [{ external_id: '77', email: 'ada@engines.example', properties: { jobtitle: 'Countess' } }],
    })
    const at = (number: number) => new Date(Date.UTC(2026, 9, 1) + number * 3_600_000).toISOString()
    for (let batch = 0; batch < 10; batch++) {
      const events = Array.from({ length: 10 }, (_, index) => ({
        event: 'page_view',
        url: `https://${tenant.site}/page-${batch * 10 + index}`,
        title: `Page ${batch * 10 + index}`,
        timestamp: at(batch * 10 + index),
      }))
      await tenant.track({ visitor_id: 'ada', events })
    }
    path = `/contacts/${contactId}`
  })
  afterAll(() => browser?.close())

  test('shows every event once, by day, and loads more near the end', async () => {
    const page = await browser.signedIn(tenant, { path: `${path}?view=events` })
    await page.getByText('Viewed Page 99').waitFor()
    const events = page.getByText(/^Viewed Page \d+$/)
    for (let shown = await events.count(); shown < 100; shown = await events.count()) {
      await events.last().scrollIntoViewIfNeeded()
      await expect.poll(() => events.count()).toBeGreaterThan(shown)
    }
    await page.getByRole('button', { name: 'Show earlier' }).waitFor({ state: 'detached' })
    const titles = await events.allTextContents()
    expect(titles).toEqual(Array.from({ length: 100 }, (_, index) => `Viewed Page ${99 - index}`))
    expect(await page.getByRole('region', { name: 'Thursday, 1 October 2026' }).count()).toBe(1)
    await page.getByLabel('Which events').selectOption('page_view')
    await page.waitForURL('**/*event_type=page_view*')
    expect(browser.problems).toEqual([])
  })

  test('shows each visit in one line among the other events, and opens it', async () => {
    const page = await browser.signedIn(tenant, { path })
    const visits = page.getByRole('button', { expanded: false, name: /^Direct visit · \d+ pages/ })
    await visits.first().waitFor()
    await page.getByRole('link', { name: 'Contact created' }).waitFor()
    expect(await page.getByText(/^Viewed/).count()).toBe(0)
    await visits.first().click()
    await page.getByText('Viewed Page 99').waitFor()
    expect(await checkPage(page, 'contact-visits')).toEqual([])
    await page.getByText('Events', { exact: true }).last().click()
    await page.waitForURL('**/*view=events*')
  })

  test('says which property stops outreach, and shows an address in the letters of its domain', async () => {
    const silent = await tenant.contact('kim@xn--bcher-kva.example', { has_opted_out_of_email: true })
    const page = await browser.signedIn(tenant, { path: `/contacts/${silent}` })
    await page
      .getByText('No messages are sent to this contact: \u2068has_opted_out_of_email\u2069 is \u2068true\u2069.')
      .waitFor()
    await page.getByRole('heading', { name: 'kim@bücher.example' }).waitFor()
    expect(await page.getByText('xn--').count()).toBe(0)
    expect(await checkPage(page, 'contact-consent')).toEqual([])
    await tenant.call('PUT', `/v1/contacts/${silent}`, { properties: { has_opted_out_of_email: null, bounced: 'yes' } })
    await reopen(page)
    await page.getByText('No emails are sent to this contact: \u2068bounced\u2069 is \u2068yes\u2069.').waitFor()
  })

  test('changes a property in place at once, and undoes the change if it is rejected', async () => {
    await tenant.contact('taken@example.com')
    const page = await browser.signedIn(tenant, { role: 'member', path })
    await page.getByRole('button', { name: 'Change First name: Ada' }).click()
    await page.getByRole('textbox', { name: 'First name' }).fill('Augusta Ada')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Augusta Ada Byron' }).waitFor()
    await page.getByRole('button', { name: 'Change Seats: 12' }).click()
    await page.getByRole('textbox', { name: 'Seats' }).fill('13')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Change Lifecycle stage: Lead' }).click()
    await page.getByRole('combobox', { name: 'Lifecycle stage' }).selectOption('customer')
    await page.getByRole('button', { name: 'Save Lifecycle stage' }).click()
    await page.getByRole('button', { name: 'Change Lifecycle stage: Customer' }).waitFor()

    await page.getByRole('button', { name: /^Change Email/ }).click()
    await page.getByRole('textbox', { name: 'Email' }).fill('taken@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe('taken@example.com')
    await screenshot(page, 'contact-conflict')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Email' }).press('Escape')
    await page.getByRole('button', { name: 'Change Email: ada@engines.example' }).waitFor()
    await page.getByRole('button', { name: 'Add a property' }).click()
    await page.getByLabel('Name', { exact: true }).fill('shoe_size')
    await page.getByLabel('Value').fill('38')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Change Shoe size: 38' }).waitFor()
    // A change shows at once, before the service has responded.
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.properties)
      .toMatchObject({
        email: 'ada@engines.example',
        firstname: 'Augusta Ada',
        seats: 13,
        lifecyclestage: 'customer',
        shoe_size: '38',
      })

    // Unsaved input and the focus move when the window is resized.
    await page.getByRole('button', { name: 'Change Last name: Byron' }).click()
    await page.getByRole('textbox', { name: 'Last name' }).fill('Lovel')
    await page.setViewportSize({ width: 700, height: 1000 })
    await page.getByRole('tabpanel', { name: 'Details' }).getByRole('textbox', { name: 'Last name' }).waitFor()
    await page.keyboard.type('ace')
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.setViewportSize({ width: 1600, height: 1000 })
    expect(await page.getByRole('textbox', { name: 'Last name' }).inputValue()).toBe('Lovelace')
    await page.getByRole('button', { name: 'Save Last name' }).click()
    await page.getByRole('heading', { name: 'Augusta Ada Lovelace' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('counts characters like the service: an emoji is one', async () => {
    const page = await browser.signedIn(tenant, { role: 'member', path })
    await page.getByRole('button', { name: 'Add a property' }).click()
    const name = page.getByLabel('Name', { exact: true })
    await name.focus()
    await page.keyboard.insertText('🎉'.repeat(130))
    expect(await name.inputValue()).toBe('🎉'.repeat(128))
    await name.fill('')
    await page.keyboard.insertText('x'.repeat(130))
    expect(await name.inputValue()).toBe('x'.repeat(128))
    expect(browser.problems).toEqual([])
  })

  test('stores notes in markdown', async () => {
    const page = await browser.signedIn(tenant, { role: 'member', path: `${path}?tab=notes` })
    await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
    await page.getByRole('button', { name: 'Add note' }).first().click()
    const field = page.getByLabel('New note')
    expect(await field.evaluate((each) => each === document.activeElement)).toBe(true)
    await field.fill(NOTE)
    await page.keyboard.press('Control+Enter')
    const note = page.getByRole('article', { name: 'Note' })
    await note.locator('strong', { hasText: 'pricing' }).waitFor()
    expect(await note.locator('li').allTextContents()).toEqual(['call back', 'our page'])
    expect(await note.getByRole('link', { name: 'our page' }).getAttribute('rel')).toContain('noopener')
    expect(await note.getByRole('cell').allTextContents()).toEqual(['1', '2'])
    expect(await checkPage(page, 'contact-notes')).toEqual([])
    await note.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Note', { exact: true }).fill('Called back.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await note.getByText('Called back.').waitFor()
    await note.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the note' }).click()
    await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('loads many notes page by page', async () => {
    const noted = await tenant.contact('noted@example.com')
    const notes = Array.from({ length: 23 }, (_, index) => ({
      note_id: newId(),
      contact_id: noted,
      content: `Note ${index}.`,
      created_at: new Date(Date.UTC(2026, 0, 1, 0, index)),
      updated_at: new Date(Date.UTC(2026, 0, 1, 0, index)),
    }))
    await tenant.handle.db.insertInto('notes').values(notes).execute()
    const page = await browser.signedIn(tenant, { role: 'viewer', path: `/contacts/${noted}?tab=notes` })
    await page.getByRole('tab', { name: 'Notes 23' }).waitFor()
    await page.getByText('Note 22.').waitFor()
    const shown = page.getByRole('article', { name: 'Note' })
    expect(await shown.count()).toBe(10)
    await page.getByRole('button', { name: 'Earlier notes (13)' }).click()
    await page.getByRole('button', { name: 'Earlier notes (3)' }).click()
    await page.getByText('Note 0.').waitFor()
    expect(await shown.count()).toBe(23)
    expect(await page.getByRole('button', { name: /Earlier/ }).count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('is added to a company found by search, and removed from it', async () => {
    const { body } = await tenant.call('POST', '/v1/companies', { name: 'Looms & <b>Co</b>', domain: 'looms.example' })
    const alone = await tenant.contact('alone@example.com', { firstname: 'Alone' })
    const companyOf = async () => (await tenant.call('GET', `/v1/contacts/${alone}`)).body.contact.company_id
    const page = await browser.signedIn(tenant, { role: 'member', path: `/contacts/${alone}` })
    await page.getByRole('button', { name: 'Choose a company' }).press('Enter')
    const field = page.getByRole('textbox', { name: 'Find a company' })
    await field.fill('nothing like it')
    await page.getByText('No results.').waitFor()
    await field.fill('looms')
    await page.getByRole('list', { name: 'Companies found' }).getByRole('button').waitFor()
    await screenshot(page, 'contact-company-choice')
    expect(await accessibilityProblems(page)).toEqual([])
    await page
      .getByRole('list', { name: 'Companies found' })
      .getByRole('button', { name: /looms\.example/ })
      .click()
    await page.getByRole('link', { name: 'Looms & <b>Co</b>' }).waitFor()
    expect(await companyOf()).toBe(body.company.company_id)
    await page.getByRole('button', { name: 'Change company' }).click()
    await field.fill('engines')
    await page.getByRole('button', { name: /engines\.example/ }).click()
    await page.getByRole('link', { name: 'Engines' }).waitFor()
    await page.getByRole('button', { name: 'Remove the company' }).click()
    await page.getByRole('button', { name: 'Choose a company' }).waitFor()
    expect(await companyOf()).toBeNull()
    expect(browser.problems).toEqual([])
  })

  test("shows the values of each source side by side, and agents' actions", async () => {
    const page = await browser.signedIn(tenant, { path: `${path}?tab=profile` })
    const row = page.getByRole('row', { name: /^Job title/ })
    await row.waitFor()
    expect(await row.getByRole('cell').count()).toBe(
      await page
        .getByRole('columnheader')
        .count()
        .then((all) => all - 1),
    )
    expect(await row.textContent()).toMatch(/differs.*(Analyst.*Countess|Countess.*Analyst)/)
    await page.getByLabel('Only differences').check()
    expect(await page.getByRole('row', { name: /^Last name/ }).count()).toBe(0)
    expect(await checkPage(page, 'contact-sources')).toEqual([])
    await page.getByRole('tab', { name: 'Agent actions' }).click()
    await page.getByRole('heading', { name: 'No agent has acted on this contact' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('shows conversations as text or as HTML', async () => {
    const message = (message_id: string, direction: string, text: string, html?: string) => ({
      message_id,
      direction,
      from: { address: direction === 'inbound' ? 'ada@engines.example' : 'support@shop.example', name: 'Ada Byron' },
      to: [{ name: 'Support' }],
      sent_at: '2026-01-31T08:00:00.000Z',
      text,
      ...(html === undefined ? {} : { html }),
    })
    const record = {
      thread_key: '4711',
      subject: 'The page stays white',
      contact: { email: 'ada@engines.example' },
      messages: [
        message('1', 'inbound', 'It is white.', '<p>It is <b>white</b>.</p><script>top.document.title="x"</script>'),
        message('2', 'outbound', 'We look into it.'),
      ],
    }
    const { body } = await tenant.call('POST', '/v1/sources/helpdesk/conversations', { records: [record] })
    expect(body.failed).toBe(0)
    const page = await browser.signedIn(tenant, { role: 'viewer', path: `${path}?tab=conversations` })
    await page.getByRole('button', { name: /The page stays white/ }).click()
    await page.getByText('We look into it.').waitFor()
    expect(await checkPage(page, 'contact-conversations')).toEqual([])
    await page.getByRole('button', { name: 'Show as sent' }).click()
    await page.frameLocator('iframe').locator('b', { hasText: 'white' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('cannot be changed by a viewer', async () => {
    const page = await browser.signedIn(tenant, { role: 'viewer', path })
    await page
      .getByRole('button', { name: /^Direct visit/ })
      .first()
      .waitFor()
    for (const name of [/^Change /, /^Add/, /company/, 'More actions']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
    await page.getByRole('tab', { name: /Notes/ }).click()
    await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
    expect(await page.getByLabel('New note').count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('erases all data of a person after an admin confirms it, and shows a receipt', async () => {
    const erased = await tenant.contact('erase@example.com', { firstname: 'Erase' }, { visitor_id: 'erase' })
    await tenant.track({ visitor_id: 'erase', events: [{ event: 'page_view', url: `https://${tenant.site}/` }] })
    await tenant.call('POST', `/v1/contacts/${erased}/notes`, { content: 'A note' })
    const page = await browser.signedIn(tenant, { role: 'admin', path: `/contacts/${erased}` })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
    const sure = page.getByRole('button', { name: 'Erase everything' })
    expect(await sure.isDisabled()).toBe(true)
    expect(await checkPage(page, 'contact-erase')).toEqual([])
    await page.getByLabel('Type erase to confirm').fill('erase')
    await sure.click()
    await page.getByText(/^Erased on /).waitFor()
    expect(await checkPage(page, 'contact-erased')).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await page.waitForURL('**/contacts')
    expect((await tenant.call('GET', `/v1/contacts/events/${erased}`)).status).toBe(404)
    expect(browser.problems).toEqual([])
  })

  test('is merged into another contact, which can be undone', async () => {
    const twin = await tenant.contact('twin@engines.example', { firstname: 'Twin', shoe_size: '38' })
    const kept = await tenant.contact('kept@engines.example', { firstname: 'Kept' })
    const page = await browser.signedIn(tenant, { role: 'member', path: `/contacts/${twin}` })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Merge into another contact…' }).click()
    await page.getByLabel('Find the contact to keep').fill('kept')
    await page.getByRole('button', { name: /^Kept/ }).click()
    expect(await checkPage(page, 'contact-merge')).toEqual([])
    await page.getByRole('button', { name: 'Merge', exact: true }).click()
    await page.getByRole('heading', { name: 'Kept', level: 1 }).waitFor()
    await page.getByText('The other contact was merged into this one.').waitFor()
    expect((await tenant.call('GET', `/v1/contacts/${kept}`)).body.contact.properties.shoe_size).toBe('38')
    const story = page.getByRole('tabpanel', { name: 'Timeline' })
    await story
      .getByRole('listitem')
      .filter({ hasText: 'Merged with Twin' })
      .getByText('twin@engines.example')
      .waitFor()
    expect(await checkPage(page, 'contact-merged')).toEqual([])
    await openWithin(page, `/contacts/${twin}`)
    await page.getByRole('heading', { name: 'This contact was merged into another one' }).waitFor()
    expect(await checkPage(page, 'contact-merged-away')).toEqual([])
    await page.getByRole('button', { name: 'Undo merge' }).click()
    await page.getByRole('heading', { name: 'Twin', level: 1 }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('runs an agent for the contact', async () => {
    const agent = { name: 'Scout', playbook: { playbook_md: 'Look.' }, capabilities: ['notes'] }
    await tenant.call('POST', '/v1/agents', agent)
    const page = await browser.signedIn(tenant, { role: 'member', path })
    await page.getByRole('button', { name: 'Run an agent' }).click()
    await page.getByRole('combobox', { name: 'Agent' }).waitFor()
    expect(await checkPage(page, 'contact-agent')).toEqual([])
    await page.getByRole('button', { name: 'Start the run' }).click()
    await page.waitForURL('**/agents/runs/*')
    expect(browser.problems).toEqual([])
  })

  test('shows a message for an unknown contact and after a deletion', async () => {
    const gone = await tenant.contact('gone@example.com', { firstname: 'Gone' })
    const page = await browser.signedIn(tenant, { role: 'member', path: `/contacts/${gone}` })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete the contact' }).waitFor()
    await page.getByRole('button', { name: 'Delete the contact' }).click()
    await page.waitForURL('**/contacts')
    expect((await tenant.call('GET', `/v1/contacts/${gone}`)).status).toBe(404)
    await openWithin(page, `/contacts/${gone}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await checkPage(page, 'contact-none')).toEqual([])
    const stranger = await createTestTenant(service)
    const other = await browser.signedIn(stranger, { path })
    await other.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(browser.problems).toEqual([])
  })
})
