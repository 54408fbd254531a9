import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let customers: string

describe.skipIf(!HAS_BROWSER)('the builder of conditions', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const steel = { name: 'Steel', domain: 'steel.example', properties: { industry: 'Steel' } }
    const { company_id } = (await tenant.call('POST', '/v1/companies', steel)).body.company
    for (const [name, amounts] of Object.entries({ ada: [60, 70], grace: [5], joan: [] })) {
      await tenant.contact(`${name}@example.com`, { firstname: name }, { visitor_id: name, company_id })
      const events = amounts.map((amount) => ({
        event: 'order_paid',
        url: `https://${tenant.site}/pay`,
        data: { amount, plan: 'pro', order: { currency: 'EUR' } },
      }))
      const views = [{ event: 'page_view', url: `https://${tenant.site}/pricing` }]
      await tenant.track({ visitor_id: name, events: [...views, ...events] })
    }
    const filter = { match: 'all', conditions: [{ property: 'firstname', operator: 'is_set' }] }
    customers = (await tenant.call('POST', '/v1/segments', { name: 'Customers', filter })).body.segment.segment_id
  })
  afterAll(() => browser?.close())

  test('what an event must be, how often it happened and what its values add up to', async () => {
    const page = await newSegment('Good customers')
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    // The focus is in the new condition, so that it can be typed at once.
    await choose(page, 'Event', 'order', 'Order paid')
    await addDetail(page, 'Property of the event')
    await choose(page, 'Property', 'order curr', /^Order currency/)
    // Values that the data of these events have are offered.
    await page.locator('input[aria-label="Value"]').click()
    await page.getByRole('option', { name: 'EUR', exact: true }).click()
    await addDetail(page, 'Sum, average or other figure')
    await choose(page, 'Property', 'amount', /^Amount/, 1)
    await page.getByRole('spinbutton', { name: 'Value' }).fill('100')
    await page.getByLabel('Comparison of the count').selectOption('exactly')
    await page.getByLabel('Count', { exact: true }).fill('2')
    await page.getByText('ada@example.com').waitFor()
    await page.getByText('1', { exact: true }).waitFor()
    expect(await checkPage(page, 'condition-event')).toEqual([])
    await page.getByRole('button', { name: 'Create segment' }).click()
    const words =
      'Has done “Order paid” where Order currency is “EUR” exactly 2 times with a sum of Amount that is at least “100”'
    await page.getByText(words).waitFor()
    expect(await filterOf(page)).toEqual({
      match: 'all',
      conditions: [
        {
          event: {
            type: 'order_paid',
            where: [{ property: 'data.order.currency', operator: 'equals', value: 'EUR' }],
            count: { operator: 'equals', value: 2 },
            measure: { function: 'sum', property: 'data.amount', operator: 'gte', value: 100 },
          },
          operator: 'did',
        },
      ],
    })
  })

  test('events that follow one another, the company of a contact and other segments', async () => {
    const page = await newSegment('Followed')
    await page.getByRole('button', { name: 'Sequence', exact: true }).click()
    for (const [index, event] of ['Viewed a page', 'Order paid'].entries()) {
      const step = page.getByRole('group', { name: `Step ${index + 1}` })
      await step.getByRole('combobox', { name: 'Event' }).fill(event)
      await page.getByRole('option', { name: event }).first().click()
    }
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'industry', /^Company industry/)
    await page.getByLabel('Comparison', { exact: true }).selectOption('starts with')
    await page.locator('input[aria-label="Value"]').fill('st')
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'segment', /^Segment/, 1)
    await page.getByRole('combobox', { name: 'Segments' }).fill('cust')
    await page.getByRole('option', { name: 'Customers', exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByText('2', { exact: true }).waitFor()
    expect(await checkPage(page, 'condition-sequence')).toEqual([])
    await page.getByRole('button', { name: 'Create segment' }).click()
    const words =
      'Has viewed a page, then done “Order paid”, within 7 days and Company industry starts with “st” and is in “Customers”'
    await page.getByText(words).waitFor()
    expect(await filterOf(page)).toEqual({
      match: 'all',
      conditions: [
        {
          sequence: [{ type: 'page_view' }, { type: 'order_paid' }],
          within: { value: 7, unit: 'day' },
          operator: 'did',
        },
        { property: 'company.industry', operator: 'starts_with', value: 'st' },
        { property: 'segment', operator: 'in', value: [customers] },
      ],
    })
  })

  test('a condition is built with the keyboard alone', async () => {
    const page = await newSegment('By keyboard')
    await page.getByRole('button', { name: 'Property', exact: true }).focus()
    for (const key of ['Enter', ...'first name', 'Enter', 'Tab']) await page.keyboard.press(key === ' ' ? 'Space' : key)
    await page.keyboard.type('is any of')
    await page.keyboard.press('Tab')
    await page.keyboard.type('ada')
    await page.keyboard.press('Enter')
    await page.keyboard.type('joan')
    await page.keyboard.press('Enter')
    await page.getByText('2', { exact: true }).waitFor()
    // Removing a condition leaves the focus with the buttons that add one.
    await page.getByRole('button', { name: 'Remove condition 1' }).press('Enter')
    await page.getByText('No conditions: every contact matches.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Property')
  })

  test('events are filtered by any property, in the URL, as a view, as a file and as a segment', async () => {
    const page = await browser.signedIn(tenant, { path: '/events' })
    await page.getByText('1–6 of 6').waitFor()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'amount', /^Amount/)
    await page.getByLabel('Comparison', { exact: true }).selectOption('is at least')
    await page.getByRole('combobox', { name: 'Value', exact: true }).fill('60')
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'contact first', /^Contact first name/, 1)
    await page.getByRole('combobox', { name: 'Value', exact: true }).nth(1).fill('ada')
    await page.keyboard.press('Tab')
    expect(await checkPage(page, 'event-conditions')).toEqual([])
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–2 of 2').waitFor()
    await page.getByText('Contact first name is “ada”').waitFor()
    expect(await checkPage(page, 'events-filtered')).toEqual([])

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export events' }).click(),
    ])
    expect((await readFile(await download.path(), 'utf8')).trim().split('\r\n')).toHaveLength(3)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Big orders')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Big orders' }).waitFor()

    await page.getByRole('button', { name: 'Remove the filter Contact first name is “ada”' }).click()
    await page.getByRole('button', { name: 'Remove the filter Amount is at least “60”' }).waitFor()
    await openWithin(page, '/events')
    await page.getByText('1–6 of 6').waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Big orders' }).click()
    await page.getByText('1–2 of 2').waitFor()

    await page.getByRole('button', { name: 'Save as segment…' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Big spenders')
    await page.getByRole('button', { name: 'Create segment' }).click()
    await page.getByRole('heading', { name: 'Big spenders', level: 1 }).waitFor()
    await page.getByText('Has done anything where Amount is at least “60” and Contact first name is “ada”').waitFor()
    await page.getByText('1–1 of 1').waitFor()
  })

  test('a filter of a link that the service refuses says what is wrong, and one that nothing can show is left out', async () => {
    const refused = { match: 'all', conditions: [{ property: 'timestamp', operator: 'contains', value: 'x' }] }
    const page = await browser.signedIn(tenant, {
      path: `/events?filter=${encodeURIComponent(JSON.stringify(refused))}`,
    })
    await page.getByRole('alert').getByText('must be one of').waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByText('1–6 of 6').waitFor()
    const gone = { property: 'segment', operator: 'in', value: ['00000000-0000-7000-8000-000000000000'] }
    await openWithin(page, `/contacts?filter=${encodeURIComponent(JSON.stringify({ ...refused, conditions: [gone] }))}`)
    await page.getByText('Is in a deleted segment').waitFor()
    await page.getByRole('button', { name: 'Filter (1)' }).click()
    await page.getByText('A chosen segment was deleted. Nobody is in it.').waitFor()
    expect(await checkPage(page, 'condition-deleted-segment')).toEqual([])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await openWithin(page, `/events?filter=${encodeURIComponent('{"match":"all","conditions":[{"event":{}}]}')}`)
    await page.getByText('1–6 of 6').waitFor()
  })

  test('a webhook delivers only events that meet conditions, which its page says and its form changes', async () => {
    const page = await browser.signedIn(tenant, { path: '/webhooks/new?event=order_paid' })
    await page.getByRole('textbox', { name: 'URL', exact: true }).fill('https://hooks.example.com/orders')
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'amount', /^Amount/)
    await page.getByLabel('Comparison', { exact: true }).selectOption('is at least')
    expect(await page.getByRole('button', { name: 'Create webhook' }).isDisabled()).toBe(true)
    await page.locator('input[aria-label="Value"]').fill('60')
    await page.keyboard.press('Tab')
    expect(await checkPage(page, 'webhook-conditions')).toEqual([])
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('link', { name: /saved/ }).click()
    await page.getByText('Amount is at least “60”').waitFor()
    const stored = async () => (await tenant.call('GET', '/v1/webhooks')).body.webhooks[0].where
    expect(await stored()).toEqual([{ property: 'data.amount', operator: 'gte', value: 60 }])
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Edit webhook' }).click()
    await page.getByRole('dialog').getByLabel('Comparison', { exact: true }).selectOption('is less than')
    await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Amount is less than “60”').waitFor()
    expect(await stored()).toEqual([{ property: 'data.amount', operator: 'lt', value: 60 }])
  })

  test('a segment cannot depend on itself, and one that others use cannot be deleted; both are said where it happens', async () => {
    const page = await browser.signedIn(tenant, { path: `/segments/${customers}/edit` })
    const followed = (await tenant.call('GET', '/v1/segments')).body.segments.find(
      ({ name }: { name: string }) => name === 'Followed',
    )
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await choose(page, 'Property', 'segment', /^Segment/, 1)
    await page.getByRole('combobox', { name: 'Segments' }).fill('follow')
    await page.getByRole('option', { name: 'Followed' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('alert').getByText('This segment would depend on itself').waitFor()
    expect(await checkPage(page, 'segment-circle')).toEqual([])
    await openWithin(page, `/segments/${customers}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete segment' }).click()
    await page.getByRole('dialog').getByText('The segment “Followed” uses this one in its filter').waitFor()
    await page.keyboard.press('Escape')
    // Without the conditions that use it, it can be.
    await tenant.call('PATCH', `/v1/segments/${followed.segment_id}`, { filter: { match: 'all', conditions: [] } })
  })
})

async function newSegment(name: string): Promise<Page> {
  const page = await browser.signedIn(tenant, { path: '/segments/new' })
  await page.getByLabel('Name').fill(name)
  return page
}

/** Types a part of an option's words into a field, the last one of its name by default, and chooses it. */
async function choose(page: Page, label: string, typed: string, option: string | RegExp, index = 0): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).nth(index).fill(typed)
  await page.getByRole('option', { name: option }).first().click()
}

async function addDetail(page: Page, detail: string): Promise<void> {
  await page.getByRole('button', { name: 'Add detail' }).click()
  await page.getByRole('menuitem', { name: detail }).click()
}

/** The stored filter of the segment whose page is shown. */
async function filterOf(page: Page) {
  const segmentId = new URL(page.url()).pathname.split('/').at(-1)
  return (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.filter
}
