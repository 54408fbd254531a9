import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createClaimedSegment } from '../../server/test/segments.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, isLoaded, openBrowser, openWithin, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('the segments', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    for (let n = 0; n < 12; n++) {
      const properties = { firstname: `Person ${n}`, country: n % 3 === 0 ? 'FR' : 'DE', seats: n }
      await tenant.contact(`person${n}@example.com`, properties, { visitor_id: `visitor-${n}` })
    }
    const events = [{ event: 'page_view', url: `https://${tenant.site}/pricing` }]
    for (const n of [0, 1, 2]) await tenant.track({ visitor_id: `visitor-${n}`, events })
  })
  afterAll(() => browser?.close())

  test('a segment is built from properties and events, counted while it is edited, saved, changed and deleted', async () => {
    const page = await browser.signedIn(tenant, { path: '/segments' })
    await page.getByRole('heading', { name: 'No segments yet' }).waitFor()
    await screenshot(page, 'segments-empty')
    await page.getByRole('link', { name: 'New segment' }).first().click()
    await page.getByLabel('Name').fill('French visitors of the prices')
    // Whole conditions are offered first.
    await page.getByRole('group', { name: 'Start with' }).getByRole('button').first().waitFor()
    await screenshot(page, 'segment-suggestions')
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await page.getByRole('combobox', { name: 'Property' }).fill('count')
    await page.getByRole('option', { name: /^Country/ }).click()
    await page.locator('input[aria-label="Value"]').fill('FR')
    await page.getByText('4', { exact: true }).waitFor()
    // Values of existing contacts are suggested.
    await page.locator('input[aria-label="Value"]').fill('D')
    await page.getByRole('option', { name: 'DE' }).click()
    await page.getByText('8', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    await page.getByText('One condition is incomplete and ignored.').waitFor()
    expect(await page.getByRole('button', { name: 'Create segment' }).isDisabled()).toBe(true)
    await page.locator('input[aria-label="Event"]').fill('page_view')
    await page.getByRole('option', { name: 'Viewed a page' }).click()
    await page.getByRole('button', { name: 'Add detail' }).click()
    await page.getByRole('menuitem', { name: 'URL contains' }).click()
    await page.locator('input[aria-label="URL contains"]').fill('/pricing')
    await page.getByText('2', { exact: true }).waitFor()
    await page.getByText('person1@example.com').waitFor()
    await screenshot(page, 'segment-builder')
    await page.getByRole('button', { name: 'Create segment' }).click()

    await page.getByRole('heading', { name: 'French visitors of the prices', level: 1 }).waitFor()
    await page.getByText('Country is “DE” and has viewed a page at a URL containing “/pricing”').waitFor()
    await page.getByRole('link', { name: 'Person 1' }).waitFor()
    // Its history begins with its creation.
    await page.getByText('when the segment was created. Its filter added 2 contacts at once').waitFor()
    await page.getByRole('button', { name: 'Show as table' }).click()
    expect(
      await page
        .getByRole('region', { name: /by day/ })
        .getByRole('row')
        .count(),
    ).toBe(2)
    await screenshot(page, 'segment')

    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Remove condition 2' }).click()
    await page.getByText('8', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('1–8 of 8').waitFor()

    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete segment' }).click()
    await page.getByRole('heading', { name: 'No segments yet' }).waitFor()
  })

  test('a segment of companies is built from their fields and the events of their contacts', async () => {
    const own = await createTestTenant(service)
    const create = async (name: string) =>
      (await own.call('POST', '/v1/companies', { name, domain: `${name}.example` })).body.company.company_id
    const [alpha, beta] = [await create('Alpha'), await create('Beta')]
    for (const [name, company_id] of [
      ['ann', alpha],
      ['bob', alpha],
      ['cy', beta],
    ]) {
      await own.contact(`${name}@nowhere.example`, {}, { visitor_id: `${own.id}-${name}`, company_id })
      await own.track({
        visitor_id: `${own.id}-${name}`,
        events: [{ event: 'page_view', url: `https://${own.site}/` }],
      })
    }
    const page = await browser.signedIn(own, { path: '/segments/new' })
    await page.getByLabel('Name').fill('Teams')
    await page.getByText('Companies', { exact: true }).last().click()
    await page.getByText('Matching companies').waitFor()
    await page.getByText('No conditions: every company matches.').waitFor()
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await page.getByRole('combobox', { name: 'Property' }).fill('contact_count')
    await page.getByRole('option', { name: 'Contacts contact_count' }).click()
    await page.getByRole('combobox', { name: 'Comparison' }).selectOption('gte')
    await page.locator('input[aria-label="Value"]').fill('2')
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    await page.locator('input[aria-label="Event"]').fill('page_view')
    await page.getByRole('option', { name: 'Viewed a page' }).click()
    // Each contact viewed one.
    await page.getByRole('textbox', { name: 'Count', exact: true }).fill('2')
    await page.getByRole('link', { name: 'Alpha' }).waitFor()
    await page.getByText('company, counted in').waitFor()
    expect(await page.getByRole('link', { name: 'Beta' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Create segment' }).click()

    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor()
    await page.getByText('Contacts is at least “2” and has viewed a page at least 2 times').waitFor()
    await page.getByText('company now').waitFor()
    await page.getByRole('link', { name: 'Alpha' }).waitFor()
    expect(await checkPage(page, 'segment-of-companies')).toEqual([])
    await page.getByRole('link', { name: 'Open as list' }).click()
    await page.getByText('Is in “Teams”').waitFor()
    await page.getByRole('link', { name: 'Alpha' }).waitFor()
    expect(await page.getByRole('link', { name: 'Beta' }).count()).toBe(0)
    await openWithin(page, '/segments')
    await page.getByText('1 company', { exact: true }).waitFor()
    // It is no audience of agents, and no segment of contacts.
    await openWithin(page, '/contacts')
    await page.getByRole('button', { name: /^Filter/ }).click()
    expect(await page.getByRole('combobox', { name: 'Segment' }).getByRole('option').allTextContents()).not.toContain(
      'Teams',
    )
  })

  test('from its page, the members are exported, opened as a list, written to by an agent, and copied into another segment', async () => {
    const own = await createTestTenant(service)
    const filter = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: 'pro' }] }
    const { segment_id } = (await own.call('POST', '/v1/segments', { name: 'Customers', filter })).body.segment
    await expect
      .poll(async () => (await own.call('GET', `/v1/segments/${segment_id}`)).body.segment.counting)
      .toBe(false)
    const ada = await own.contact('ada@example.com', { firstname: 'Ada', plan: 'free' })
    await own.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'pro' } })
    const page = await browser.signedIn(own, { path: `/segments/${segment_id}` })
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    await page.getByRole('tab', { name: 'Entered and left' }).click()
    await page.getByRole('row').filter({ hasText: 'Entered' }).getByText('Contact updated: Plan is now “pro”').waitFor()
    expect(await checkPage(page, 'segment-changes')).toEqual([])

    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    expect(await readFile(await (await download).path(), 'utf8')).toContain('ada@example.com')

    const more = async (item: string) => {
      await openWithin(page, `/segments/${segment_id}`)
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await more('Duplicate')
    await page.getByRole('button', { name: 'Create segment' }).click()
    await page.getByRole('heading', { name: 'Copy of Customers', level: 1 }).waitFor()
    await page.getByText('Plan is “pro”').waitFor()
    await more('Create a webhook for segment entries')
    expect(await page.getByLabel('Event').first().inputValue()).toBe('segment_entered')
    const limit = page.getByLabel('Segment', { exact: true })
    await expect.poll(() => limit.inputValue()).toBe(segment_id)
    await page.getByRole('textbox', { name: 'URL', exact: true }).fill('https://hooks.example.com/entries')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('link', { name: /saved/ }).click()
    await page.getByText('Customers', { exact: true }).waitFor()
    const { webhooks } = (await own.call('GET', '/v1/webhooks')).body
    expect(webhooks).toMatchObject([{ event: 'segment_entered', segment_id }])
    await more('Start an agent for these contacts')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('combobox', { name: 'Segment' }).waitFor()
    expect(await page.getByLabel('Contacts in a segment').isChecked()).toBe(true)
    await openWithin(page, `/segments/${segment_id}`)
    await page.getByRole('link', { name: 'Open as list' }).click()
    await page.getByText('In segment', { exact: false }).first().waitFor()
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a segment that is still being counted says so, in the list and on its page', async () => {
    const own = await createTestTenant(service)
    await own.contact('ada@example.com')
    const filter = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
    const definition = { name: 'Everybody', description: null, filter }
    await createClaimedSegment(own.handle, definition)
    const page = await browser.signedIn(own, { path: '/segments' })
    await page.getByRole('cell', { name: 'Counting…' }).waitFor()
    await page.getByRole('link', { name: 'Everybody' }).click()
    await page.getByRole('heading', { name: 'Everybody', level: 1 }).waitFor()
    await expect.poll(() => page.getByText('Counting…').count()).toBe(3)
    await own.handle.db.updateTable('segments').set({ claimed_until: null }).execute()
    await page.getByText('contact now').waitFor()
    await page.getByText('Counting…').first().waitFor({ state: 'hidden' })
  })

  test('a filter that the service rejects shows the error in place; nested groups and every kind of value survive saving and reopening', async () => {
    const rejected = { match: 'all', conditions: [{ property: 'created_at', operator: 'contains', value: 'x' }] }
    const filter = {
      match: 'any',
      conditions: [
        { property: 'country', operator: 'in', value: ['FR', 'IT'] },
        { property: 'seats', operator: 'gte', value: 10 },
        { property: 'created_at', operator: 'within_days', value: 7 },
        { property: 'lastname', operator: 'is_not_set' },
        {
          match: 'all',
          conditions: [
            { event: { type: 'page_view', within_days: 30, min_count: 2 }, operator: 'did_not' },
            { property: 'firstname', operator: 'contains', value: 'son' },
            { event: {}, operator: 'did_not' },
          ],
        },
      ],
    }
    const page = await browser.signedIn(tenant, { path: '/segments/new' })
    await page.getByLabel('Name').fill('Nested')
    const use = async (json: object) => {
      await page.getByRole('button', { name: 'JSON' }).click()
      await page.getByLabel('Filter as JSON', { exact: true }).fill(JSON.stringify(json))
      await page.getByRole('button', { name: 'Use this filter' }).click()
    }
    await use(rejected)
    await page.getByRole('alert').getByText('must be one of').waitFor()
    await use(filter)
    await page.getByRole('button', { name: 'Create segment' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Nested', level: 1 }).waitFor()
    const segmentId = new URL(page.url()).pathname.split('/').at(-1)
    const { body } = await tenant.call('GET', `/v1/segments/${segmentId}`)
    expect(body.segment.filter).toEqual(filter)
  })

  test('a viewer sees segments but no controls to change them', async () => {
    const page = await browser.signedIn(tenant, { path: '/segments', role: 'viewer' })
    await page.getByRole('link', { name: 'Nested' }).click()
    await page.getByRole('heading', { name: 'Nested', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await openWithin(page, '/segments/new')
    await page.waitForURL('**/segments')
  })

  test('every page is accessible, on small and large screens, light and dark', async () => {
    const { body } = await tenant.call('GET', '/v1/segments')
    const paths = ['/segments', '/segments/new', `/segments/${body.segments[0].segment_id}`]
    const page = await browser.signedIn(tenant)
    for (const [index, path] of paths.entries()) {
      await openWithin(page, path)
      await page
        .getByText(index === 0 ? 'Nested' : /^Filter$/)
        .first()
        .waitFor()
      await isLoaded(page)
      expect(await checkPage(page, `segments-${index}`)).toEqual([])
    }
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
