import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import {
  checkPage,
  contentOf,
  isLoaded,
  openBrowser,
  openWithin,
  reopen,
  screenshot,
  type TestBrowser,
} from './browser.ts'

const DAY_MS = 86_400_000
const BROWSERS = ['Chrome', 'Safari', 'Firefox']

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('insights', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    // 12 days: the visitors of a day see a page each, every third one buys something.
    for (let ago = 0; ago < 12; ago++) {
      for (let visitor = 0; visitor < 3 + ((ago * 5) % 7); visitor++) {
        const timestamp = new Date(Date.now() - ago * DAY_MS - 1_000).toISOString()
        const of = {
          url: `https://${tenant.site}/p-${visitor % 3}`,
          timestamp,
          data: { browser: BROWSERS[visitor % 3] },
        }
        const events = [
          { event: 'page_view', title: `Page ${visitor % 3}`, ...of },
          ...(visitor % 3 === 0 ? [{ event: 'order_paid', ...of, data: { amount: 20 + ago, currency: 'EUR' } }] : []),
        ]
        await tenant.track({ visitor_id: `visitor-${(ago + visitor) % 9}`, session_id: `s-${ago}-${visitor}`, events })
      }
    }
  })
  afterAll(() => browser?.close())

  const open = (path: string, options: { width?: number; scheme?: 'light' | 'dark' } = {}) =>
    browser.signedIn(tenant, { path, ...options })
  const totals = (page: Page) => page.getByRole('region', { name: 'Totals' })
  const asked = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('question') ?? 'null')

  test('an empty question proposes itself from the events', async () => {
    const page = await open('/insights')
    await totals(page).getByRole('row', { name: 'Viewed a page: people' }).waitFor()
    expect(asked(page)).toBeNull()
    expect(await checkPage(page, 'insights-trend')).toEqual([])
  })

  test('a trend is built with the mouse, and a reload keeps it', async () => {
    const page = await open('/insights')
    await totals(page).getByRole('row', { name: 'Viewed a page: people 9' }).waitFor()
    await page.getByRole('button', { name: 'Add a series' }).click()
    const series = page.getByRole('group', { name: 'Series B', exact: true })
    await series.getByRole('combobox', { name: 'Event of Series B' }).click()
    await page.getByRole('option', { name: /^Order paid/ }).click()
    await series.getByRole('combobox', { name: 'Figure of series B' }).selectOption('Sum')
    await page.getByText('Choose the number that series B is about.').waitFor()
    await series.getByRole('combobox', { name: 'Number of series B' }).click()
    await page.getByRole('option', { name: /^Amount/ }).click()
    await totals(page).getByRole('row', { name: 'Order paid: sum of amount' }).waitFor()
    await series.getByRole('button', { name: 'Condition' }).click()
    await series.getByRole('combobox', { name: 'Property', exact: true }).click()
    await page.getByRole('option', { name: /^Amount/ }).click()
    await series.getByRole('combobox', { name: 'Comparison' }).selectOption('is at least')
    await page.getByText('1 condition is incomplete.').waitFor()
    await series.getByRole('combobox', { name: 'Value' }).fill('30')
    await page.getByRole('switch', { name: 'Compare with the period before' }).check()
    await page.getByRole('button', { name: 'Date range: Last 30 days' }).click()
    await page.getByRole('menuitem', { name: 'Last 7 days' }).click()
    await expect
      .poll(() => asked(page))
      .toEqual({
        last: { value: 7, unit: 'day' },
        interval: 'day',
        compare: 'previous_period',
        series: [
          { event: 'page_view', metric: 'unique_people' },
          {
            event: 'order_paid',
            where: [{ property: 'data.amount', operator: 'gte', value: 30 }],
            metric: 'sum',
            property: 'data.amount',
          },
        ],
      })
    // Only orders of 10 and 11 days ago were of so much: 2 of 30, and 3 of 31.
    const row = totals(page).getByRole('row', { name: /^Show Order paid/ })
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(['0', '153', '-100%'])
    await reopen(page)
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(['0', '153', '-100%'])
    expect(await series.getByRole('combobox', { name: 'Value' }).inputValue()).toBe('30')
    await page.getByRole('textbox', { name: 'Formula' }).fill('B / A')
    await page.keyboard.press('Enter')
    await totals(page).getByRole('row', { name: 'Show B / A' }).waitFor()
    await page.getByRole('button', { name: 'Remove series A' }).click()
    await page
      .getByRole('alert')
      .getByText(/formula/)
      .waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })

  test('a trend is built with the keyboard, and the chart tells its figures', async () => {
    const page = await open('/insights')
    await totals(page).getByRole('row', { name: 'Viewed a page: people 9' }).waitFor()
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.getByRole('combobox', { name: 'Event of Series A' }).focus()
    await press('ControlOrMeta+a')
    await page.keyboard.type('order')
    await press('ArrowDown', 'Enter')
    await page.getByRole('combobox', { name: 'Figure of series A' }).focus()
    await page.keyboard.type('Number of')
    await page.getByRole('button', { name: 'Property', exact: true }).focus()
    await press('Enter')
    await page.getByRole('combobox', { name: 'Property 1 to break down by' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('amount')
    await press('ArrowDown', 'Enter')
    await expect.poll(() => asked(page)?.breakdown).toEqual(['data.amount'])
    expect(asked(page).series).toEqual([{ event: 'order_paid', metric: 'count' }])
    await totals(page).getByRole('row', { name: 'All others' }).waitFor()
    const chart = page.getByRole('slider', { name: 'Figures by day' })
    await chart.focus()
    await press('ArrowLeft', 'ArrowLeft')
    const told = await chart.getAttribute('aria-valuetext')
    expect(told).toMatch(/^\w+,? \d+ \w+ \d{4}: 22: \d; /)
    // The same figures, for everybody who looks.
    await page.getByText(told?.slice(0, told.indexOf(':')) ?? '', { exact: true }).waitFor()
    await press('Home')
    expect(await chart.getAttribute('aria-valuetext')).not.toBe(told)
    await totals(page).getByRole('checkbox', { name: 'Show 22' }).uncheck()
    await chart.focus()
    await press('ArrowLeft', 'ArrowLeft')
    expect(await chart.getAttribute('aria-valuetext')).not.toContain('22:')
  })

  test('figures are a table too, and a file', async () => {
    const question = { last: { value: 3, unit: 'day' }, series: [{ event: 'order_paid' }, {}] }
    const page = await open(`/insights?question=${encodeURIComponent(JSON.stringify(question))}`)
    await page.getByRole('button', { name: 'Show as table' }).click()
    const table = page.getByRole('region', { name: 'Figures by day, as a table' })
    // The three last days had 3, 8 and 6 visitors, one to three of whom bought something.
    await expect
      .poll(() => table.getByRole('row').evaluateAll((rows) => rows.map((row) => row.textContent)))
      .toEqual([
        'DayOrder paidAny event',
        expect.stringMatching(/14$/),
        expect.stringMatching(/311$/),
        expect.stringMatching(/28$/),
      ])
    expect(await checkPage(page, 'insights-table')).toEqual([])
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the figures as CSV' }).click()
    const lines = (await contentOf(await download)).toString().trim().split(/\r\n/)
    expect(lines[0]).toBe('Day,Order paid,Any event')
    expect(lines.slice(1).map((line) => line.replace(/^\d{4}-\d\d-\d\d/, 'day'))).toEqual([
      'day,2,8',
      'day,3,11',
      'day,1,4',
      'Total,6,23',
    ])
  })

  test('a number opens its people, who become a list or a segment', async () => {
    const own = await createTestTenant(service)
    await own.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'ada' })
    await own.contact('grace@example.com', { firstname: 'Grace' }, { visitor_id: 'grace' })
    for (const visitor_id of ['ada', 'grace', 'nobody'])
      await own.track({ visitor_id, events: [{ event: 'signed_up' }] })
    await own.track({ visitor_id: 'ada', events: [{ event: 'order_paid' }] })
    const question = { series: [{ event: 'signed_up', metric: 'unique_people' }, { event: 'order_paid' }] }
    const page = await browser.signedIn(own, {
      path: `/insights?question=${encodeURIComponent(JSON.stringify(question))}`,
    })
    await page.getByRole('button', { name: '3. Show the people behind “Signed up: people”' }).click()
    const panel = page.getByRole('dialog', { name: 'Signed up: people' })
    await panel.getByText('contacts, and 1 anonymous visitor').waitFor()
    await panel.getByRole('link', { name: 'Grace' }).waitFor()
    expect(await checkPage(page, 'insights-people')).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('button', { name: /^1\. Show the people behind “Order paid, / }).click()
    await page.getByText('contact', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Open as list' }).click()
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Grace' }).count()).toBe(0)
    await page.getByText(/^Is among the people of a trend of “Order paid”/).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: '3. Show the people behind “Signed up: people”' }).click()
    const download = page.waitForEvent('download')
    await panel.getByRole('link', { name: 'Download these contacts as CSV' }).click()
    const file = (await contentOf(await download)).toString()
    expect(file.split('\r\n').map((line) => line.split(',')[1])).toEqual(
      expect.arrayContaining(['email', 'ada@example.com', 'grace@example.com']),
    )
    await panel.getByRole('link', { name: 'Start an agent' }).click()
    await page.getByRole('heading', { name: 'New agent', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await page.getByRole('radio', { name: 'Contacts that match a filter' }).isChecked()).toBe(true)
    await page.getByText('the people of a trend of “Signed up”').first().waitFor()
    await page.goBack()
    await page.getByRole('button', { name: '3. Show the people behind “Signed up: people”' }).click()
    await page.getByRole('button', { name: 'Create segment' }).click()
    await page.getByLabel('Name').fill('Who signed up')
    await page
      .getByRole('dialog', { name: /segment/i })
      .getByRole('button', { name: /create/i })
      .click()
    await page.getByRole('heading', { name: 'Who signed up', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText('the people of a trend of “Signed up”').first().waitFor()
    await page.getByRole('combobox', { name: 'Is or is not among the people' }).selectOption('Is not among')
    await page
      .getByText('No matching contacts', { exact: false })
      .or(page.getByText('0', { exact: true }))
      .first()
      .waitFor()
  })

  test('people of a question that is too long for a URL become a segment, and then the audience of an agent', async () => {
    const own = await createTestTenant(service)
    await own.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'ada' })
    await own.track({ visitor_id: 'ada', events: [{ event: 'signed_up' }] })
    const where = Array.from({ length: 7 }, (_, index) => ({
      property: `data.p${index}`,
      operator: 'not_equals',
      value: 'x'.repeat(900),
    }))
    const question = { series: [{ event: 'signed_up', where }] }
    const page = await browser.signedIn(own, {
      path: `/insights?question=${encodeURIComponent(JSON.stringify(question))}`,
    })
    await totals(page).getByRole('button', { name: '1. Show the people behind' }).click()
    await page.getByRole('button', { name: 'Start an agent' }).click()
    const dialog = page.getByRole('dialog', { name: /segment/i })
    await dialog.getByText('The question is too long for a URL', { exact: false }).waitFor()
    await dialog.getByLabel('Name').fill('From a long question')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New agent', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await page.getByRole('combobox', { name: 'Segment' }).textContent()).toContain('From a long question')
  })

  test('an answer says that there is nothing, that it is late, and what is wrong with its question', async () => {
    const page = await open('/insights')
    await totals(page).waitFor()
    const nothing = { series: [{ event: 'never_happened' }], last: { value: 7, unit: 'day' } }
    await openWithin(page, `/insights?question=${encodeURIComponent(JSON.stringify(nothing))}`)
    await page.getByRole('heading', { name: 'Nothing in this range' }).waitFor()
    const wrong = { series: [{ event: 'page_view' }], formula: 'A +' }
    await openWithin(page, `/insights?question=${encodeURIComponent(JSON.stringify(wrong))}`)
    await page.getByRole('alert').waitFor()
    // A broken link opens with a proposal.
    for (const broken of [
      '{',
      '[]',
      '{"series":[]}',
      '{"series":[{"where":[{"property":5}]}]}',
      '{"series":[{}],"last":7}',
    ]) {
      await openWithin(page, `/insights?question=${encodeURIComponent(broken)}`)
      await totals(page).getByRole('row', { name: 'Viewed a page: people' }).waitFor()
    }
    for (const kind of ['funnel', 'retention', 'paths']) {
      await openWithin(page, `/insights/${kind}?question=${encodeURIComponent('{"last":{"value":7,"unit":"day"}}')}`)
      await page.getByRole('button', { name: 'Download the figures as CSV' }).waitFor()
    }
    await openWithin(page, '/insights')
    await totals(page).waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/insights/trend', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('combobox', { name: 'Interval' }).selectOption('By week')
    // The answer before is shown until the next one is there.
    await page.getByText('Still counting.', { exact: false }).waitFor()
    await page.getByRole('heading', { name: 'By day' }).waitFor()
    held.resolve()
    await page.getByRole('heading', { name: 'By week' }).waitFor()
    await isLoaded(page)
    await page.getByText('Still counting.', { exact: false }).waitFor({ state: 'detached' })
    await screenshot(page, 'insights-week')
  })

  test('a question that reads too much is answered from a sample, and from everybody again', async () => {
    const page = await open('/insights')
    await totals(page).waitFor()
    const tooExpensive = {
      ...{ code: 'query_too_expensive', message: 'Too much', request_id: 'r' },
      details: [{ path: 'sample', message: 'must be at most 0.1' }],
    }
    let isTooMuch = true
    await page.route('**/v1/insights/trend', async (route) => {
      const refused = isTooMuch && route.request().postDataJSON().sample === undefined
      if (refused) await route.fulfill({ status: 400, json: { status: 'error', error: tooExpensive } })
      else await route.continue()
    })
    await page.getByRole('combobox', { name: 'Interval' }).selectOption('By week')
    await page.getByRole('alert').getByText('This question reads too much').waitFor()
    expect(await checkPage(page, 'insights-too-much')).toEqual([])
    await page.getByRole('button', { name: 'Answer from a 10% sample' }).click()
    await page.getByText('Estimated from 10% of the people.', { exact: false }).waitFor()
    expect(asked(page).sample).toBe(0.1)
    expect(await page.getByRole('button', { name: /Show the people behind/ }).count()).toBe(0)
    expect(await checkPage(page, 'insights-sample')).toEqual([])
    isTooMuch = false
    await page.getByRole('button', { name: 'Count everyone' }).click()
    await totals(page).getByRole('row', { name: 'Viewed a page: people 9' }).waitFor()
    expect(asked(page).sample).toBeUndefined()
  })

  test('a funnel shows who reached each step, by value and beside the period before', async () => {
    const page = await open('/insights')
    await page.getByRole('tab', { name: 'Funnel' }).click()
    await page.waitForURL('**/insights/funnel')
    const steps = page.getByRole('group', { name: 'Steps', exact: true })
    // The most frequent events are proposed, in that order.
    await expect.poll(() => page.getByText('9 (100%)').count()).toBe(2)
    await page.getByText(/^100% went on, half of them within .+$/).waitFor()
    await steps.getByRole('button', { name: 'Add a step' }).click()
    await page.getByRole('combobox', { name: 'Event of Step 3' }).click()
    await page.getByRole('option', { name: /^Viewed a page/ }).click()
    await page.getByRole('combobox', { name: 'Order' }).selectOption('In any order')
    await page.getByRole('combobox', { name: 'Unit of the window' }).selectOption('weeks')
    await page.getByRole('combobox', { name: 'Count' }).selectOption('Visits')
    await page.getByRole('switch', { name: 'Compare with the period before' }).check()
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await page.getByRole('combobox', { name: 'Property 1 to break down by' }).click()
    await page.getByRole('option', { name: /^Domain/ }).click()
    await expect
      .poll(() => asked(page))
      .toEqual({
        last: { value: 30, unit: 'day' },
        compare: 'previous_period',
        steps: [{ event: 'page_view' }, { event: 'order_paid' }, { event: 'page_view' }],
        window: { value: 7, unit: 'week' },
        order: 'any',
        count_by: 'sessions',
        breakdown: ['domain'],
      })
    await page.getByRole('region', { name: 'Steps by value' }).getByRole('row', { name: tenant.site }).waitFor()
    await page.getByText('the period before: 0', { exact: false }).first().waitFor()
    expect(await checkPage(page, 'insights-funnel')).toEqual([])
    await steps.getByRole('button', { name: 'Remove step 3' }).click()
    await expect.poll(() => asked(page).steps.length).toBe(2)
    expect(await steps.getByRole('button', { name: /^Remove step/ }).count()).toBe(0)
  })

  test('retention is a map of cohorts', async () => {
    const page = await open('/insights/retention')
    const cohorts = page.getByRole('region', { name: 'Cohorts' })
    // All nine came for the first time within two weeks.
    await cohorts.getByRole('row', { name: /^Average 9/ }).waitFor()
    await page.getByRole('combobox', { name: 'Interval' }).selectOption('By day')
    await page.getByRole('combobox', { name: 'What people start with' }).selectOption('An event')
    await page.getByRole('combobox', { name: 'Event of start' }).click()
    await page.getByRole('option', { name: /^Order paid/ }).click()
    await page.getByRole('combobox', { name: 'When they come back' }).selectOption('In that interval or later')
    await page.getByRole('textbox', { name: 'Intervals to follow' }).fill('3')
    await page.keyboard.press('Tab')
    await expect
      .poll(() => asked(page))
      .toEqual({
        last: { value: 8, unit: 'week' },
        start: { event: 'order_paid' },
        return: 'any',
        interval: 'day',
        intervals: 3,
        mode: 'on_or_after',
      })
    await cohorts.getByRole('columnheader', { name: 'Day 3' }).waitFor()
    await cohorts.getByText('3 people').first().waitFor()
    expect(await checkPage(page, 'insights-retention')).toEqual([])
    await reopen(page)
    await cohorts.getByRole('columnheader', { name: 'Day 3' }).waitFor()
  })

  test('paths are a flow of visits', async () => {
    const own = await createTestTenant(service)
    const visit = async (session_id: string, ...paths: string[]) => {
      const events = paths.map((path, index) => ({
        event: 'page_view',
        url: `https://${own.site}${path}`,
        timestamp: new Date(Date.now() - 60_000 + index * 1_000).toISOString(),
      }))
      await own.track({ visitor_id: session_id, session_id, events })
    }
    await visit('a', '/', '/pricing', '/signup')
    await visit('b', '/', '/pricing')
    await visit('c', '/docs', '/pricing')
    const page = await browser.signedIn(own, { path: '/insights/paths' })
    const table = page.getByRole('region', { name: 'Steps between' })
    const rows = () => table.getByRole('row').evaluateAll((all) => all.map(({ textContent }) => textContent))
    await expect.poll(rows).toEqual(['StepFromToVisits', '1//pricing2', '1/docs/pricing1', '2/pricing/signup1'])
    await page.getByRole('group', { name: 'Flow of visits' }).getByText('/pricing 3').waitFor()
    expect(await checkPage(page, 'insights-paths')).toEqual([])
    await page.getByRole('combobox', { name: 'Which paths' }).selectOption('To a page or event')
    await page.getByRole('textbox', { name: 'URL path' }).fill('/signup')
    await expect.poll(rows).toEqual(['StepFromToVisits', '-2//pricing1', '-1/pricing/signup1'])
    expect(asked(page)).toMatchObject({ kind: 'pages', to: '/signup', depth: 4 })
    await reopen(page)
    await expect.poll(rows).toHaveLength(3)
  })

  test('a question is about everyone, or about the contacts in a segment', async () => {
    const own = await createTestTenant(service)
    for (const plan of ['pro', 'free']) {
      await own.contact(`${plan}@example.com`, { plan }, { visitor_id: plan })
      await own.track({ visitor_id: plan, events: [{ event: 'signed_up' }] })
    }
    const filter = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: 'pro' }] }
    await own.call('POST', '/v1/segments', { name: 'Paying', filter })
    const question = { series: [{ event: 'signed_up' }] }
    const page = await browser.signedIn(own, {
      path: `/insights?question=${encodeURIComponent(JSON.stringify(question))}`,
    })
    await totals(page).getByRole('row', { name: 'Signed up 2' }).waitFor()
    await page.getByRole('combobox', { name: 'People', exact: true }).selectOption('In the segment Paying')
    await totals(page).getByRole('row', { name: 'Signed up 1' }).waitFor()
    await reopen(page)
    await totals(page).getByRole('row', { name: 'Signed up 1' }).waitFor()
    await page.getByRole('combobox', { name: 'People', exact: true }).selectOption('Everyone')
    await totals(page).getByRole('row', { name: 'Signed up 2' }).waitFor()
    await page.getByRole('button', { name: 'Property', exact: true }).click()
    await page.getByRole('combobox', { name: 'Property 1 to break down by' }).click()
    await page.getByRole('option', { name: /plan/i }).click()
    await totals(page)
      .getByRole('row', { name: /^Show free/ })
      .waitFor()
    expect(asked(page).breakdown).toEqual(['contact.plan'])
    const other = { ...question, people: filter }
    await openWithin(page, `/insights?question=${encodeURIComponent(JSON.stringify(other))}`)
    await totals(page).getByRole('row', { name: 'Signed up 1' }).waitFor()
    await page.getByRole('option', { name: 'A filter from the link' }).waitFor({ state: 'attached' })
  })

  test('a question is saved as a report, opened by others, renamed and deleted', async () => {
    const own = await createTestTenant(service)
    await own.track({ visitor_id: 'a', events: [{ event: 'signed_up' }] })
    const question = { series: [{ event: 'signed_up' }], last: { value: 7, unit: 'day' } }
    const page = await browser.signedIn(own, {
      path: `/insights?question=${encodeURIComponent(JSON.stringify(question))}`,
    })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Sign-ups')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/insights/reports')
    const table = page.getByRole('region', { name: 'Reports' })
    await table.getByRole('row', { name: 'Sign-ups Trend' }).waitFor()
    expect(await checkPage(page, 'insights-reports')).toEqual([])
    await page.getByRole('link', { name: 'Sign-ups' }).click()
    await totals(page).getByRole('row', { name: 'Signed up 1' }).waitFor()
    expect(asked(page)).toEqual(question)
    await page.getByRole('tab', { name: 'Reports' }).click()
    await page.getByRole('button', { name: 'More about Sign-ups' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('New users')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'More about New users' }).click()
    await page.getByRole('menuitem', { name: 'Delete report' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete report' }).click()
    await page.getByRole('heading', { name: 'No reports yet' }).waitFor()
    const viewer = await browser.signedIn(own, { path: '/insights', role: 'viewer' })
    await totals(viewer).waitFor()
    expect(await viewer.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
