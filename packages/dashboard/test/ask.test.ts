import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type ScriptedModel, startScriptedModel } from '../../server/test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, type TestBrowser } from './browser.ts'

const FILTER = { match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'customer' }] }

describe.skipIf(!HAS_BROWSER)('ask your data', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser
  let model: ScriptedModel

  beforeAll(async () => {
    model = await startScriptedModel()
    service = await startTestService({
      CDS_LLM_ALLOW_PRIVATE: '1',
      CDS_LLM_BASE_URL: model.url,
      CDS_LLM_MODEL: 'gpt-oss',
    })
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const events = [{ event: 'page_view', url: `https://${tenant.site}/pricing`, title: 'Pricing' }]
    await tenant.track({ visitor_id: 'v', events })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await model?.close()
  })

  test('a question is answered with real names, the steps, and the contacts to change or save', async () => {
    const id = await tenant.contact('ada@example.com', {
      firstname: 'Ada',
      lastname: 'Lovelace',
      lifecyclestage: 'customer',
    })
    model.answer = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? {
            content: `**One customer** in all time:\n\n| Contact | Stage |\n|---|---|\n| firstname:${id} lastname:${id} | customer |`,
          }
        : { calls: [{ name: 'search_contacts', arguments: { filter: FILTER } }] }
    const page = await browser.signedIn(tenant)
    await page.getByLabel('Ask your data').fill('Who are our customers?')
    expect(await checkPage(page, 'home-ask')).toEqual([])
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByText('One customer').waitFor()
    await page.getByText('How it was looked up: 1 step').click()
    await page.getByText('Search contacts').waitFor()
    expect(await checkPage(page, 'home-answer')).toEqual([])
    await page.getByRole('link', { name: 'Open these contacts', exact: false }).click()
    await page.getByRole('button', { name: 'Save as segment' }).waitFor()
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await page.goBack()
    await page.getByLabel('Ask your data').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a breakdown leads to its chart, and a failure says what to do', async () => {
    const args = { entity: 'events', group_by: 'url_path', filters: { event_type: 'page_view' } }
    model.answer = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { content: 'Only /pricing.' }
        : { calls: [{ name: 'aggregate', arguments: args }] }
    const page = await browser.signedIn(tenant)
    await page.getByRole('button', { name: 'Which companies are most active this month?' }).click()
    await page.getByText('Only /pricing.').waitFor()
    await page.getByRole('link', { name: 'Open this breakdown', exact: false }).click()
    await page.getByText('/pricing').first().waitFor()
    expect(new URL(page.url()).searchParams.get('group_by')).toBe('url_path')
    model.answer = () => ({ status: 401 })
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.getByLabel('Ask your data').fill('What now?')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'check its API key' }).waitFor()
  })

  test('a question about behavior is answered with its chart, its people and a link to it', async () => {
    await tenant.contact('grace@example.com', { firstname: 'Grace' })
    const view = (path: string) => ({
      email: 'grace@example.com',
      event: 'page_view',
      url: `https://${tenant.site}${path}`,
    })
    expect((await tenant.call('POST', '/v1/events', { events: [view('/pricing')] })).body.failed).toBe(0)
    const at = (path: string) => ({
      event: 'page_view',
      where: [{ property: 'url_path', operator: 'equals', value: path }],
    })
    const question = { steps: [at('/pricing'), at('/signup')], window: { value: 7, unit: 'day' } }
    model.answer = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { content: 'All of them leave after pricing.' }
        : { calls: [{ name: 'run_insight', arguments: { kind: 'funnel', question } }] }
    const page = await browser.signedIn(tenant)
    await page.getByRole('button', { name: 'Where do people drop off', exact: false }).click()
    await page.getByText('All of them leave after pricing.').waitFor()
    await page.getByRole('button', { name: 'No further than', exact: false }).first().waitFor()
    expect(await checkPage(page, 'home-answer-chart')).toEqual([])
    await page.getByRole('link', { name: 'Open this question', exact: false }).click()
    await page.getByRole('heading', { name: 'Insights', level: 1 }).waitFor()
    expect(JSON.parse(new URL(page.url()).searchParams.get('question') ?? '')).toEqual(question)
    expect(browser.problems).toEqual([])
  })

  test('is absent for viewers', async () => {
    const viewer = await browser.signedIn(tenant, { role: 'viewer' })
    await viewer.getByRole('heading', { name: 'Events by day' }).waitFor()
    expect(await viewer.getByLabel('Ask your data').count()).toBe(0)
  })
})
