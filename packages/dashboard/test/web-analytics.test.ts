import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { writeMmdb } from '../../server/test/mmdb.ts'
import { openDirectory } from '../../server/test/process.ts'
import {
  CHROME,
  createTestTenant,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../server/test/service.ts'
import {
  accessibilityProblems,
  checkPage,
  isLoaded,
  openBrowser,
  openWithin,
  reopen,
  screenshot,
  type TestBrowser,
} from './browser.ts'

const DAY_MS = 86_400_000
const [BIELEFELD, BREST] = ['91.7.4.19', '2.6.77.3']
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

interface Visit {
  who: string
  /** Days ago. */
  ago: number
  pages: string[]
  /** Further events at the end. */
  after?: string[]
  referrer?: string
  address?: string
  userAgent?: string
}

interface Row {
  value: string | null
  people: number
}

describe.skipIf(!HAS_BROWSER)('web analytics', () => {
  beforeAll(async () => {
    const file = join(await openDirectory(), 'city.mmdb')
    const place = (iso: string, region: string, city: string) => ({ country_code: iso, state1: region, city })
    await writeMmdb(file, {
      '91.7.4.0/24': place('DE', 'North Rhine', 'Bielefeld'),
      '2.6.77.0/24': place('FR', 'Brittany', 'Brest'),
    })
    service = await startTestService({ CDS_TRUST_PROXY: '1', CDS_GEO_DATABASE: file })
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'ada' })
    const google = { referrer: 'https://google.com/' }
    await visit({ who: 'ada', ago: 40, pages: ['/'] })
    await visit({ who: 'ada', ago: 3, pages: ['/', '/pricing'], after: ['signed_up'], ...google })
    await visit({ who: 'ben', ago: 2, pages: ['/'] })
    await visit({
      who: 'cleo',
      ago: 2,
      pages: ['/blog?utm_source=letter&utm_campaign=spring', '/pricing'],
      address: BREST,
      userAgent: FIREFOX,
    })
    await visit({ who: 'dan', ago: 1, pages: ['/', '/blog', '/pricing'], address: BREST, ...google })
    await visit({ who: 'eve', ago: 1, pages: ['/'] })
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  let sessions = 0

  /** A page view each ten seconds, and then other events. */
  async function visit({ who, ago, pages, after = [], referrer, address = BIELEFELD, userAgent = CHROME }: Visit) {
    const start = Date.now() - ago * DAY_MS - 60_000
    const at = (step: number) => ({ timestamp: new Date(start + step * 10_000).toISOString() })
    const events = [
      ...pages.map((path, step) => ({
        event: 'page_view',
        url: new URL(path, `https://${tenant.site}`).href,
        ...(step === 0 && referrer !== undefined ? { referrer } : {}),
        ...at(step),
      })),
      ...after.map((event, step) => ({ event, ...at(pages.length + step) })),
    ]
    const sent = { visitor_id: who, session_id: `${who}-${++sessions}`, events }
    const { status } = await tenant.track(sent, { 'x-forwarded-for': address, 'user-agent': userAgent })
    expect(status).toBe(200)
  }

  const open = (path = '/insights/web', width?: number) =>
    browser.signedIn(tenant, { path, ...(width === undefined ? {} : { width }) })
  const question = (asked: object) => `/insights/web?question=${encodeURIComponent(JSON.stringify(asked))}`
  const inUrl = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('question') ?? 'null')
  const ask = async (asked: object) => (await tenant.call('POST', '/v1/insights/web', asked)).body
  const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  /** The rows of a card: their names, and their people. */
  const rowsOf = async (page: Page, name: string) => {
    const [names, people] = await Promise.all(
      [/^Only/, /Show the people/].map((button) =>
        card(page, name).getByRole('button', { name: button }).allTextContents(),
      ),
    )
    return names?.map((each, index) => [each, people?.[index]])
  }
  const totals = (page: Page) => card(page, 'Totals')
  /** The number of a figure at the top. */
  const figure = (page: Page, name: string) =>
    totals(page).locator('[data-chosen]').filter({ hasText: name }).locator('div').first().textContent()

  test('the page shows what the service answers, and looks right everywhere', async () => {
    const page = await open()
    await page.locator('[data-country=DE]').waitFor()
    const answer = await ask({
      last: { value: 30, unit: 'day' },
      compare: 'previous_period',
      goals: [{ event: 'signed_up' }],
    })
    expect(answer.totals).toMatchObject({ people: 5, visits: 5, page_views: 9, bounce_rate: 0.4 })
    const shown = await Promise.all(
      ['People', 'Visits', 'Page views', 'Views per visit', 'Bounce rate'].map((name) => figure(page, name)),
    )
    expect(shown).toEqual(['5', '5', '9', '1.8', '40%'])
    await totals(page).getByText('+400%').first().waitFor()
    const rows = answer.lists.source.map(({ value, people }: Row) => [value ?? 'Direct', String(people)])
    expect(await rowsOf(page, 'Sources')).toEqual(rows)
    await page.getByRole('cell', { name: '20%' }).waitFor()
    await card(page, 'Places').getByRole('button', { name: 'Only Germany' }).waitFor()
    expect(await checkPage(page, 'web-analytics')).toEqual([])
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [1440, 'dark'],
      [768, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 1000 })
      await page.emulateMedia({ colorScheme })
      await screenshot(page, `web-analytics-${width}-${colorScheme}`)
    }
    expect(browser.problems).toEqual([])
  })

  test('a list is asked for when its tab is opened, and follows the filters and the sample of the page', async () => {
    const page = await open(question({ last: { value: 30, unit: 'day' } }))
    await expect.poll(() => figure(page, 'People')).toBe('5')
    const asked: { lists: string[]; sample?: number; last?: { value: number } }[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/insights/web')) asked.push(request.postDataJSON())
    })
    // Who is online now is asked, too.
    const listsOf = (range: number) => asked.filter(({ last }) => last?.value === range).map(({ lists }) => lists)
    await openWithin(page, question({ last: { value: 29, unit: 'day' }, sample: 0.9 }))
    await page.getByText('estimated from 90%').waitFor()
    await isLoaded(page)
    await card(page, 'Devices').getByRole('tab', { name: 'Operating systems' }).click()
    await isLoaded(page)
    expect(listsOf(29).toSorted()).toEqual([['country'], ['os'], ['source', 'page', 'country', 'browser']])
    expect(asked.find(({ lists }) => lists[0] === 'os')).toMatchObject({ sample: 0.9 })
    await openWithin(page, question({ last: { value: 30, unit: 'day' } }))
    await expect.poll(() => figure(page, 'People')).toBe('5')
    asked.length = 0
    const pages = card(page, 'Pages')
    await pages.getByRole('tab', { name: 'Exit pages' }).click()
    const { lists } = await ask({ last: { value: 30, unit: 'day' }, lists: ['exit_page'] })
    const exits = lists.exit_page.map(({ value, people }: Row) => [value, String(people)])
    await expect.poll(() => rowsOf(page, 'Pages')).toEqual(exits)
    expect(listsOf(30)).toContainEqual(['exit_page'])
    await pages.getByRole('button', { name: '3. Show the people behind “Exit page: /pricing”' }).waitFor()
    await pages.getByText('60%').waitFor()
    await card(page, 'Sources').getByRole('button', { name: 'Only google.com' }).click()
    await expect.poll(() => rowsOf(page, 'Pages')).toEqual([['/pricing', '2']])
    await page.getByRole('button', { name: 'Remove the filter Source' }).click()
    // What was asked is still there.
    await expect.poll(() => rowsOf(page, 'Pages')).toEqual(exits)
  })

  test('a row and a country narrow the page, and a pill widens it', async () => {
    const page = await open()
    await card(page, 'Sources').getByRole('button', { name: 'Only google.com' }).click()
    await page.getByText('is google.com').waitFor()
    await isLoaded(page)
    await expect.poll(() => figure(page, 'People')).toBe('2')
    expect(inUrl(page).visit).toEqual([{ list: 'source', value: 'google.com' }])
    await page.locator('[data-country=DE]').click()
    await page.getByText('is Germany').waitFor()
    await expect.poll(() => figure(page, 'Page views')).toBe('2')
    await reopen(page)
    await expect.poll(() => figure(page, 'Page views')).toBe('2')
    await page.getByRole('button', { name: 'Remove the filter Source' }).click()
    await expect.poll(() => figure(page, 'People')).toBe('3')
    await page.goBack()
    await expect.poll(() => figure(page, 'People')).toBe('1')
    await page.getByRole('button', { name: 'Clear all' }).click()
    await expect.poll(() => figure(page, 'People')).toBe('5')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const filters = page.getByRole('dialog', { name: 'Filters' })
    await filters.getByRole('switch', { name: 'Include bots' }).check()
    await filters.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Bots included').waitFor()
    expect(inUrl(page)).toMatchObject({ include_bots: true })
    await isLoaded(page)
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('a number opens its people, and a list opens whole', async () => {
    const page = await open()
    await totals(page)
      .getByRole('button', { name: /^5\. Show the people/ })
      .click()
    const everyone = page.getByRole('dialog', { name: 'People' })
    await everyone.getByText('contact, and 4 anonymous visitors').waitFor()
    await everyone.getByRole('link', { name: 'Ada' }).waitFor()
    await page.keyboard.press('Escape')
    await everyone.waitFor({ state: 'detached' })
    // More pages than their card has rows.
    const many = Array.from({ length: 12 }, (_, index) => `/page-${String(index).padStart(2, '0')}`)
    await visit({ who: 'fay', ago: 5, pages: many.slice(0, 6) })
    await visit({ who: 'fay', ago: 5, pages: many.slice(6) })
    await openWithin(page, question({ last: { value: 30, unit: 'day' } }))
    await card(page, 'Pages').getByRole('button', { name: 'All 15' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pages' })
    const names = () => dialog.getByRole('button', { name: /^Only/ }).allInnerTexts()
    await expect.poll(async () => (await names()).length).toBe(15)
    expect((await names())[0]).toBe('/')
    await dialog.getByRole('button', { name: 'Page', exact: true }).click()
    await dialog.getByRole('button', { name: 'Page', exact: true }).click()
    await expect.poll(async () => (await names())[0]).toBe('/pricing')
    expect(await accessibilityProblems(page)).toEqual([])
    await dialog.getByRole('searchbox', { name: 'Search pages' }).fill('page-07')
    await expect.poll(names).toEqual(['/page-07'])
    await dialog.getByRole('button', { name: /^1\. Show the people behind “Page: .page-07”/ }).click()
    const panel = page.getByRole('dialog', { name: 'Page: /page-07' })
    await panel.getByText('contacts, and 1 anonymous visitor').waitFor()
    await screenshot(page, 'web-analytics-people')
    await panel.getByRole('button', { name: 'Close' }).click()
    await dialog.getByRole('button', { name: 'Only /page-07' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => figure(page, 'People')).toBe('1')
  })

  test('the chart shows each figure, and the range has presets', async () => {
    const page = await open()
    const chart = page.getByRole('slider', { name: /^People by day/ })
    await chart.waitFor()
    await totals(page).getByRole('button', { name: 'Bounce rate' }).click()
    const bounces = page.getByRole('slider', { name: /^Bounce rate by day/ })
    await bounces.focus()
    await page.keyboard.press('ArrowLeft')
    // Yesterday, one of two visits had a single page.
    await expect.poll(() => bounces.getAttribute('aria-valuetext')).toContain('50%')
    await page.getByRole('switch', { name: 'Compare with the period before' }).uncheck()
    await expect.poll(() => inUrl(page)?.compare).toBeUndefined()
    await totals(page).getByText('before').first().waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Interval' }).selectOption('By week')
    await page.getByRole('heading', { name: 'Bounce rate by week' }).waitFor()
    await page.getByRole('button', { name: 'Date range: Last 30 days' }).click()
    await page.getByRole('menuitem', { name: 'Today' }).click()
    await expect.poll(() => inUrl(page)).toMatchObject({ last: { value: 1, unit: 'day' } })
    expect(inUrl(page).interval).toBeUndefined()
    await page.getByRole('heading', { name: 'Nothing in this range' }).waitFor()
    await page.getByRole('button', { name: 'Date range: Today' }).click()
    await page.getByRole('menuitem', { name: 'Yesterday' }).click()
    const yesterday = await ask({ last: { value: 1, unit: 'day', complete: true } })
    expect(yesterday.totals.visits).toBeGreaterThan(0)
    await expect.poll(() => figure(page, 'Visits')).toBe(String(yesterday.totals.visits))
    await page.getByRole('heading', { name: 'People by hour' }).waitFor()
    await page.getByRole('button', { name: 'Date range: Yesterday' }).click()
    await page.getByRole('menuitem', { name: 'Last 12 months' }).click()
    const { totals: ofYear } = await ask({ last: { value: 12, unit: 'month' } })
    const { totals: ofMonth } = await ask({ last: { value: 30, unit: 'day' } })
    expect(ofYear.visits).toBe(ofMonth.visits + 1)
    await expect.poll(() => figure(page, 'Visits')).toBe(String(ofYear.visits))
    await page.getByRole('button', { name: 'Show as table' }).click()
    await page.getByRole('region', { name: 'Figures by month, as a table' }).waitFor()
  })

  test('goals belong to the question, which is saved as a report', async () => {
    const page = await open(question({ last: { value: 30, unit: 'day' } }))
    await page.getByRole('button', { name: 'Add a goal' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a goal' })
    await dialog.getByRole('combobox', { name: 'Event of goal' }).click()
    await page.getByRole('option', { name: /^Signed up/ }).click()
    await dialog.getByRole('button', { name: 'Add goal' }).click()
    await card(page, 'Goals')
      .getByRole('row', { name: /^Signed up 1/ })
      .waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Name').fill('Our site')
    await page.getByRole('button', { name: 'Save report' }).click()
    await page.getByRole('row', { name: /Our site Web analytics/ }).waitFor()
    await page.getByRole('link', { name: 'Our site' }).click()
    await card(page, 'Goals').getByRole('button', { name: '1. Show the people behind “Signed up”' }).click()
    await page.getByRole('dialog', { name: 'Signed up' }).getByRole('link', { name: 'Ada' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove the goal Signed up' }).click()
    await page.getByText('A goal is an event that you want').waitFor()
  })

  test('who is online is counted as events arrive, on one of several sites', async () => {
    const page = await open()
    await page.getByRole('status').filter({ hasText: '0 people online now' }).waitFor()
    const event = { event: 'page_view', url: `https://docs.${tenant.site}/guide` }
    await tenant.track({ visitor_id: 'gil', session_id: 'gil', events: [event] })
    await page.getByText('1 person online now').waitFor()
    await openWithin(page, '/insights/web')
    await page.getByRole('combobox', { name: 'Site' }).selectOption(`docs.${tenant.site}`)
    await expect.poll(() => figure(page, 'Page views')).toBe('1')
    expect(inUrl(page).where).toEqual([{ property: 'domain', operator: 'equals', value: `docs.${tenant.site}` }])
  })
})
