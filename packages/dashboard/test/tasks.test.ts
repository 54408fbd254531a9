import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { actionOf, insertAgent, NOTE, propose } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { order, send } from '../../server/test/hooks.ts'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../server/test/service.ts'
import { openBrowser, openWithin, type TestBrowser } from './browser.ts'

/**
 * What each task costs a person who begins on the home page. A click is a click, or a key such as Enter that commits something;
 * typing into a field counts as 1, and a choice in a native list as 2. Pages are the different ones that the person uses, and
 * the last one. A better page lowers a number here, and nothing may raise one.
 */
const COSTS = {
  find: { clicks: 3, pages: 2 },
  segment: { clicks: 5, pages: 4 },
  export: { clicks: 3, pages: 3 },
  story: { clicks: 3, pages: 2 },
  import: { clicks: 5, pages: 4 },
  merge: { clicks: 6, pages: 3 },
  approve: { clicks: 2, pages: 2 },
  hook: { clicks: 8, pages: 6 },
  whyNot: { clicks: 2, pages: 3 },
  invite: { clicks: 5, pages: 2 },
  compare: { clicks: 2, pages: 1 },
  erase: { clicks: 7, pages: 2 },
  firstEvent: { clicks: 7, pages: 2 },
}

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let page: Page
let person: Person

describe.skipIf(!HAS_BROWSER)('a person at work', () => {
  let loads = 0

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await createPeople()
    page = await browser.signedIn(tenant)
    page.on('load', () => loads++)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  })
  beforeEach(async () => {
    await openWithin(page, '/')
    await page.getByRole('region', { name: 'Figures' }).waitFor()
    person = new Person()
  })
  afterAll(() => browser?.close())

  test('finds someone by a part of their name', async () => {
    await openPerson('lovela', 'Ada Lovelace')
    expect(await contactOnPage()).toMatchObject({ email: 'ada@engines.example' })
    expect(person.cost()).toEqual(COSTS.find)
  })

  test('makes a segment of those who viewed the pricing page in the last 30 days', async () => {
    await openFromNavigation('Segments')
    await person.click(link('New segment').first())
    await person.type(page.getByLabel('Name'), 'Looked at pricing')
    await person.click(page.getByRole('group', { name: 'Start with' }).getByRole('button', { name: PRICING }))
    await person.click(button('Create segment'))
    await heading('Looked at pricing')
    const emails = async () => (await segmentMembers('Looked at pricing')).map(emailOf).sort()
    await expect.poll(emails).toEqual(['ada@engines.example', 'grace@navy.example'])
    expect(person.cost()).toEqual(COSTS.segment)
  })

  test('exports the members of a segment as a file', async () => {
    await createSegment('People of engines', 'engines')
    await expect.poll(async () => (await segmentMembers('People of engines')).length).toBeGreaterThan(1)
    const members = await segmentMembers('People of engines')
    await openFromNavigation('Segments')
    await person.click(link('People of engines'))
    const [download] = await Promise.all([page.waitForEvent('download'), person.click(link('Export'))])
    const file = await readFile(await download.path(), 'utf8')
    const lines = file.trim().split('\r\n').slice(1)
    expect(lines).toHaveLength(members.length)
    for (const contact of members) expect(file).toContain(emailOf(contact))
    expect(person.cost()).toEqual(COSTS.export)
  })

  test('reads what somebody did, back to the first visit', async () => {
    await openPerson('lovela', 'Ada Lovelace')
    const { body } = await tenant.call('GET', `/v1/contacts/events/${idOnPage()}?limit=100`)
    expect(body.events).toHaveLength(3)
    expect(body.events.at(-1).data).toMatchObject({ title: 'First visit' })
    await page.getByText('Viewed First visit').waitFor()
    expect(person.cost()).toEqual(COSTS.story)
  })

  test('imports a file of five people', async () => {
    const rows = ['One', 'Two', 'Three', 'Four', 'Five'].map(
      (name) => `${name},Import,${name.toLowerCase()}@file.example`,
    )
    const buffer = Buffer.from(`First name,Last name,Email\n${rows.join('\n')}\n`)
    await openFromNavigation('Contacts')
    await person.click(link('Import'))
    await person.chooseFile({ name: 'fair.csv', mimeType: 'text/csv', buffer })
    await person.click(button('Preview').last())
    await person.click(button('Import 5 rows'))
    await page.getByRole('heading', { name: 'The import is complete' }).waitFor()
    const { body } = await tenant.call('GET', '/v1/contacts?search=file.example')
    expect(body.contacts.map(({ properties }: Contact) => properties.firstname).sort()).toEqual([
      'Five',
      'Four',
      'One',
      'Three',
      'Two',
    ])
    expect(person.cost()).toEqual(COSTS.import)
  })

  test('merges two contacts into one', async () => {
    const twin = await tenant.contact('twin@engines.example', { firstname: 'Twin', shoe_size: '38' })
    const kept = await tenant.contact('kept@engines.example', { firstname: 'Kept' })
    await openFromNavigation('Contacts')
    for (const name of ['Twin', 'Kept']) {
      await person.click(page.getByRole('row').filter({ hasText: name }).getByRole('checkbox'))
    }
    await person.click(button('Merge'))
    const dialog = page.getByRole('dialog', { name: 'Merge two contacts' })
    await person.click(dialog.getByRole('radio', { name: /^Kept/ }))
    await person.click(dialog.getByRole('button', { name: 'Merge' }))
    await heading('Kept')
    const { body } = await tenant.call('GET', `/v1/contacts/${kept}`)
    expect(body.contact.properties).toMatchObject({ email: 'kept@engines.example', shoe_size: '38' })
    expect((await tenant.call('GET', `/v1/contacts/${twin}`)).body.error.code).toBe('contact_merged')
    expect(person.cost()).toEqual(COSTS.merge)
  })

  test('approves what an agent proposes', async () => {
    const contactId = await tenant.contact('prospect@engines.example', { firstname: 'Charles', lastname: 'Babbage' })
    const agentId = await insertAgent(tenant.handle)
    // An agent's own notes run without approval; what another application proposes for the agent waits.
    const proposal = { contactId, agentId, ...NOTE, proposedBy: { kind: 'service' } as const }
    const { ref } = await propose(tenant.handle, service.jobs, proposal)
    await openFromNavigation(/^Approvals/)
    const card = page.getByRole('article', { name: 'Charles Babbage' })
    await person.click(card.getByRole('button', { name: /^Approve/ }))
    await card.getByText('Done', { exact: true }).waitFor()
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'executed', decided_by: { kind: 'user' } })
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}/notes`)
    expect(body.notes).toMatchObject([{ content: NOTE.params.content }])
    expect(person.cost()).toEqual(COSTS.approve)
  })

  test('makes a hook, and its first body becomes a contact', async () => {
    await openFromNavigation('Integrations')
    await person.click(link('Create one: Incoming webhooks'))
    await person.type(page.getByRole('textbox', { name: 'Name' }), 'Shop orders')
    await person.click(button('Create hook'))
    await person.click(button('Copy URL of the hook'))
    const url = new URL(await page.evaluate(() => navigator.clipboard.readText())).pathname
    await send(service, { url }, order('1815', 'buyer@shop.example'))
    await person.click(link('Check the fields'))
    await page.getByRole('region', { name: 'Preview' }).getByText('This would be recorded').waitFor()
    await person.click(button('Save mapping'))
    await person.click(link('created'))
    await page.getByRole('heading', { name: 'buyer@shop.example' }).waitFor()
    expect(await tenant.contactOf('buyer@shop.example')).toMatchObject({ properties: { name: 'Ada' } })
    expect(person.cost()).toEqual(COSTS.hook)
  })

  test('reads why an event did not arrive', async () => {
    const { status } = await tenant.track({ visitor_id: 'rejected', events: [{ event: '' }] })
    expect(status).toBe(400)
    await openFromNavigation('Integrations')
    await person.click(link('Event debugger'))
    const lines = page.getByRole('list', { name: 'What arrived, newest first' }).getByRole('listitem')
    const shown = await lines.filter({ hasText: 'was rejected' }).first().textContent()
    const { body } = await tenant.call('GET', '/v1/tracker/problems')
    expect(shown).toContain(body.problems[0].messages[0])
    expect(person.cost()).toEqual(COSTS.whyNot)
  })

  test('invites a colleague', async () => {
    await person.click(button(/^Account and workspace/))
    await person.click(page.getByRole('menuitem', { name: 'Invite someone' }))
    await person.type(page.getByLabel('Email'), 'colleague@engines.example')
    await person.click(button('Invite'))
    await person.click(page.getByRole('dialog').getByRole('button', { name: /^Copy/ }))
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('/invitation/')
    const { body } = await tenant.call('GET', '/v1/invitations')
    expect(body.invitations).toMatchObject([{ email: 'colleague@engines.example', role: 'member' }])
    expect(person.cost()).toEqual(COSTS.invite)
  })

  test('compares the last 7 days with the 7 before', async () => {
    await person.click(button('Last 28 days'))
    const asked = page.waitForResponse('**/v1/overview?*')
    await person.click(page.getByRole('menuitem', { name: 'Last 7 days' }))
    const { events, previous } = (await tenant.call('GET', `/v1/overview${new URL((await asked).url()).search}`)).body
    expect(previous.events).toBeGreaterThan(0)
    const figures = page.getByRole('region', { name: 'Figures' })
    await expect.poll(() => figures.textContent()).toMatch(new RegExp(`Events${events}\\D.*${previous.events} before`))
    expect(person.cost()).toEqual(COSTS.compare)
  })

  test('erases a person, and gets a receipt', async () => {
    const contactId = await tenant.contact('leaver@engines.example', { firstname: 'Leaver' }, { visitor_id: 'leaver' })
    await openPerson('leaver', 'Leaver')
    await chooseMore('Erase…')
    await person.type(page.getByLabel('Type erase to confirm'), 'erase')
    await person.click(button('Erase everything'))
    await page.getByText(/^Erased on /).waitFor()
    const receipt = (await page.getByText(/^Receipt /).textContent())?.match(/^Receipt (\S+)\./)?.[1]
    expect((await tenant.call('GET', `/v1/erasures/${receipt}`)).body.receipt).toMatchObject({ status: 'erased' })
    expect((await tenant.call('GET', `/v1/contacts/${contactId}`)).status).toBe(404)
    expect(person.cost()).toEqual(COSTS.erase)
  })

  test('creates a workspace, and sees its first event', async () => {
    await person.click(button(/^Account and workspace/))
    await person.click(page.getByRole('menuitem', { name: 'New workspace' }))
    await person.type(page.getByRole('dialog').getByLabel('Name'), 'Second shop')
    await person.click(button('Create'))
    await page.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    // Only one workspace can have localhost itself, which the field suggests.
    const site = `t${tenant.id}.localhost`
    await person.type(page.getByLabel('Domain'), site)
    await person.click(button('Add domain'))
    await page.getByText(`Pages on ${site} and its subdomains can send events`, { exact: false }).waitFor()
    await person.click(button('Copy the snippet'))
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('/tracker.js')
    await visitOf(`http://${site}:3000`)
    await page.getByRole('status').filter({ hasText: 'Viewed a page on' }).waitFor()
    const tracker = await page.evaluate(() => fetch('/v1/tracker').then((response) => response.json()))
    expect(tracker.first_event).toMatchObject({ event: 'page_view' })
    expect(person.cost()).toEqual(COSTS.firstEvent)
  })

  test('did all of it in one loaded tab, without errors, policy violations or requests to other hosts', () => {
    expect(loads).toBe(0)
    expect(browser.problems).toEqual([])
  })
})

/** Acts like a person, and counts what it costs. */
class Person {
  #clicks = 0
  readonly #paths = new Set<string>()

  async click(what: Locator): Promise<void> {
    await this.#see(what)
    this.#clicks += 1
    await what.click()
  }

  /** Fills a field, which the person also has to click or reach. */
  async type(field: Locator, words: string): Promise<void> {
    await this.#see(field)
    this.#clicks += 1
    await field.fill(words)
  }

  /** Opens a native list, and chooses from it. */
  async choose(list: Locator, label: string): Promise<void> {
    await this.#see(list)
    this.#clicks += 2
    await list.selectOption({ label })
  }

  async chooseFile(file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    const field = page.locator('input[type=file]')
    await this.#see(field, 'attached')
    this.#clicks += 1
    await field.setInputFiles(file)
  }

  cost(): { clicks: number; pages: number } {
    this.#paths.add(new URL(page.url()).pathname)
    return { clicks: this.#clicks, pages: this.#paths.size }
  }

  /** A page counts once something on it is used, so a redirect does not. */
  async #see(what: Locator, state: 'visible' | 'attached' = 'visible'): Promise<void> {
    await what.waitFor({ state })
    this.#paths.add(new URL(page.url()).pathname)
  }
}

const link = (name: string) => page.getByRole('link', { name, exact: true })
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

async function openFromNavigation(name: string | RegExp): Promise<void> {
  await person.click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }))
}

async function openPerson(part: string, name: string): Promise<void> {
  await person.click(button(/^Search/))
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  await person.type(palette.getByRole('combobox'), part)
  await person.click(palette.getByRole('group', { name: 'Contacts' }).getByRole('option', { name }))
  await heading(name)
}

async function chooseMore(name: string): Promise<void> {
  await person.click(button('More actions'))
  await person.click(page.getByRole('menuitem', { name }))
}

/** A condition that a new segment offers, made of the pages that people view. */
const PRICING = 'Has viewed a page at a URL containing “/pricing” in the last 30 days'

const idOnPage = () => new URL(page.url()).pathname.split('/').at(-1)

interface Contact {
  properties: Record<string, unknown>
}

const emailOf = ({ properties }: Contact) => properties.email

async function contactOnPage(): Promise<Record<string, unknown>> {
  return (await tenant.call('GET', `/v1/contacts/${idOnPage()}`)).body.contact.properties
}

async function segmentMembers(name: string): Promise<Contact[]> {
  const { segments } = (await tenant.call('GET', '/v1/segments')).body
  const { segment_id } = segments.find((segment: { name: string }) => segment.name === name)
  const { body } = await tenant.call('GET', `/v1/contacts?segment_id=${segment_id}&limit=100`)
  return body.contacts
}

async function createSegment(name: string, emailPart: string): Promise<void> {
  const conditions = [{ property: 'email', operator: 'contains', value: emailPart }]
  const { status } = await tenant.call('POST', '/v1/segments', { name, filter: { match: 'all', conditions } })
  expect(status).toBe(201)
}

async function visitOf(origin: string): Promise<void> {
  const events = [{ event: 'page_view', url: `${origin}/`, title: 'Welcome' }]
  const { status } = await call(service, 'POST', '/track', {
    headers: { origin, 'user-agent': CHROME },
    body: JSON.stringify({ visitor_id: 'first', events }),
  })
  expect(status).toBe(200)
}

/** Ada came 40 days ago and looked at pricing since; Grace did lately; Alan only long ago. */
async function createPeople(): Promise<void> {
  const people = [
    { id: 'ada', email: 'ada@engines.example', firstname: 'Ada', lastname: 'Lovelace' },
    { id: 'grace', email: 'grace@navy.example', firstname: 'Grace', lastname: 'Hopper' },
    { id: 'alan', email: 'alan@engines.example', firstname: 'Alan', lastname: 'Turing' },
  ]
  for (const { id, email, ...name } of people) await tenant.contact(email, name, { visitor_id: id })
  const visits = [
    { visitor_id: 'ada', path: '/', title: 'First visit', days: 40 },
    { visitor_id: 'ada', path: '/pricing', title: 'Pricing', days: 10 },
    { visitor_id: 'ada', path: '/docs', title: 'Docs', days: 1 },
    { visitor_id: 'grace', path: '/pricing', title: 'Pricing', days: 2 },
    { visitor_id: 'alan', path: '/pricing', title: 'Pricing', days: 45 },
  ]
  for (const { visitor_id, path, title, days } of visits) {
    const events = [{ event: 'page_view', url: `https://${tenant.site}${path}`, title, timestamp: daysAgo(days) }]
    expect((await tenant.track({ visitor_id, events })).status).toBe(200)
  }
}
