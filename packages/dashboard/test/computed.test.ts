import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let browser: TestBrowser
let tenant: TestTenant
let ada: string

describe.skipIf(!HAS_BROWSER)('computed properties', () => {
  beforeAll(async () => {
    const service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    ada = await tenant.contact('ada@example.com', { country: 'FR' }, { visitor_id: 'v' })
    const order = { event: 'order_paid', url: `https://${tenant.site}/`, data: { amount: 40 } }
    await tenant.track({ visitor_id: 'v', events: [order, { ...order, data: { amount: 2 } }] })
  })
  afterAll(() => browser?.close())

  const computed = async () => (await tenant.call('GET', '/v1/computed-properties')).body.computed_properties

  test('a score is created from rules, shown with its reasons, changed, and deleted with what uses it', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/computed-properties' })
    await page.getByRole('heading', { name: 'No computed properties yet' }).waitFor()
    await page.getByRole('link', { name: 'Create a computed property' }).first().click()
    const create = page.getByRole('button', { name: 'Create', exact: true })
    await page.getByRole('textbox', { name: 'Property', exact: true }).fill('lead_score')
    const first = page.getByRole('group', { name: 'Rule 1' })
    await first.getByRole('button', { name: 'Property', exact: true }).click()
    await first.getByRole('combobox', { name: 'Property' }).fill('count')
    await page.getByRole('option', { name: /^Country/ }).click()
    await first.locator('input[aria-label="Value"]').fill('FR')
    await page.getByRole('button', { name: 'Add a rule' }).click()
    expect(await create.isDisabled()).toBe(true)
    const second = page.getByRole('group', { name: 'Rule 2' })
    await second.getByRole('textbox', { name: 'Points' }).fill('25')
    await second.getByRole('button', { name: 'Event', exact: true }).click()
    await second.locator('input[aria-label="Event"]').fill('order_paid')
    await page.getByRole('option', { name: /^Order paid/ }).click()
    expect(await checkPage(page, 'computed-new-score')).toEqual([])
    await create.click()
    await page.getByRole('link', { name: 'lead_score' }).waitFor()
    await page.getByText('Score of 2 rules, from 0 to +35').waitFor()
    expect(await computed()).toMatchObject([
      {
        name: 'lead_score',
        score: [
          { points: 10, filter: { conditions: [{ property: 'country', operator: 'equals', value: 'FR' }] } },
          { points: 25, filter: { conditions: [{ event: { type: 'order_paid' }, operator: 'did' }] } },
        ],
      },
    ])
    await page.getByText('Up to date').waitFor()
    expect(await checkPage(page, 'computed-list')).toEqual([])

    await openWithin(page, `/contacts/${ada}`)
    const card = page.getByRole('region', { name: 'Scores' })
    await card.getByText('35', { exact: true }).waitFor()
    await card.getByText('Country is “FR”').waitFor()
    await card.getByText('+25').waitFor()
    expect(await checkPage(page, 'contact-scores')).toEqual([])

    const filter = { match: 'all', conditions: [{ property: 'lead_score', operator: 'gte', value: 30 }] }
    await tenant.call('POST', '/v1/segments', { name: 'Warm leads', filter })
    await openWithin(page, '/settings/computed-properties')
    await page.getByRole('link', { name: 'lead_score' }).click()
    await page.getByRole('button', { name: 'Remove rule 1' }).click()
    await page.getByRole('textbox', { name: 'Points' }).fill('-5')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The values are being brought up to date.').waitFor()
    await page.getByText('Score of 1 rule, from −5 to 0').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Segment “Warm leads”').waitFor()
    expect(await checkPage(page, 'computed-delete')).toEqual([])
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No computed properties yet' }).waitFor()
  })

  test('a figure from events is created with conditions, and a viewer only sees it', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/computed-properties/new' })
    await page.getByText('Figure from events').click()
    await page.getByRole('textbox', { name: 'Property', exact: true }).fill('revenue')
    await page.getByRole('combobox', { name: 'Figure' }).selectOption('sum')
    await page.getByRole('combobox', { name: 'Event', exact: true }).fill('order_paid')
    await page.getByRole('option', { name: /^Order paid/ }).click()
    await page.getByRole('combobox', { name: 'Property of the event' }).fill('amount')
    await page.getByRole('option', { name: /^Amount/ }).click()
    await page.getByRole('textbox', { name: 'Only the last days' }).fill('30')
    expect(await checkPage(page, 'computed-new-figure')).toEqual([])
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Sum of Amount of “Order paid”, in the last 30 days').waitFor()
    expect(await computed()).toMatchObject([
      { name: 'revenue', function: 'sum', event: 'order_paid', property: 'data.amount', within_days: 30 },
    ])

    const viewer = await browser.signedIn(tenant, { role: 'viewer', path: '/settings/computed-properties' })
    await viewer.getByRole('link', { name: 'revenue' }).click()
    await viewer.getByText('Only members and admins can change a computed property.').waitFor()
    expect(await viewer.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  })

  test('an agent reacts when a score rises', async () => {
    const filter = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'FR' }] }
    const score = { name: 'fit', entity: 'contacts', score: [{ points: 60, filter }] }
    await tenant.call('POST', '/v1/computed-properties', score)
    const { agent } = (await tenant.call('POST', '/v1/agents', { name: 'Scout', playbook_template: 'cold_outreach' }))
      .body
    const page = await browser.signedIn(tenant, { path: `/agents/${agent.agent_id}/edit` })
    await page.getByRole('button', { name: 'Score', exact: true }).click()
    await page.getByRole('combobox', { name: 'When this score rises' }).selectOption('fit')
    await page.getByRole('textbox', { name: 'To at least' }).fill('55')
    expect(await checkPage(page, 'agent-score-trigger')).toEqual([])
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Fit rose to at least 55').waitFor()
    const stored = (await tenant.call('GET', `/v1/agents/${agent.agent_id}`)).body.agent
    expect(stored.monitoring.triggers).toEqual([{ score: { name: 'fit', gte: 55 } }])
  })
})
