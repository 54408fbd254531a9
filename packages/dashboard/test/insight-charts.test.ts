import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, contentOf, openBrowser, openWithin, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('the charts of insights', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const at = (days: number, seconds = 0) =>
      new Date(Date.now() - days * 86_400_000 - 60_000 + seconds * 1_000).toISOString()
    for (const [index, visitor_id] of ['a', 'b', 'c', 'd'].entries()) {
      const view = (path: string, timestamp: string) => ({
        event: 'page_view',
        url: `https://${tenant.site}${path}`,
        timestamp,
      })
      await tenant.track({
        visitor_id,
        session_id: visitor_id,
        events: [
          view('/', at(index + 14)),
          view('/pricing', at(index + 14, 9)),
          ...(index % 2 ? [] : [{ event: 'order_paid', data: { amount: 20 }, timestamp: at(index + 14, 20) }]),
          view('/', at(index)),
        ],
      })
    }
  })
  afterAll(() => browser?.close())

  const open = (path: string, options: { width?: number; scheme?: 'light' | 'dark' } = {}) =>
    browser.signedIn(tenant, { path, ...options })
  const totals = (page: Page) => page.getByRole('region', { name: 'Totals' })
  const asked = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('question') ?? 'null')

  test('the numbers of funnels, retention and paths open their people too', async () => {
    const own = await createTestTenant(service)
    for (const name of ['Ada', 'Grace']) {
      await own.contact(`${name.toLowerCase()}@example.com`, { firstname: name }, { visitor_id: name })
      const url = `https://${own.site}`
      const views = ['/', '/pricing'].map((path, index) => ({
        event: 'page_view',
        url: url + path,
        timestamp: new Date(Date.now() - 60_000 + index * 1_000).toISOString(),
      }))
      await own.track({ visitor_id: name, session_id: name, events: views })
    }
    await own.track({ visitor_id: 'Ada', events: [{ event: 'order_paid' }] })
    const question = {
      steps: [{ event: 'page_view' }, { event: 'order_paid' }],
      window: { value: 1, unit: 'day' },
    }
    const page = await browser.signedIn(own, {
      path: `/insights/funnel?question=${encodeURIComponent(JSON.stringify(question))}`,
    })
    const showsOnly = async (name: string) => {
      const panel = page.getByRole('dialog')
      await panel.getByRole('link', { name }).waitFor()
      expect(await panel.getByRole('list', { name: 'Contacts' }).getByRole('listitem').count()).toBe(1)
      await page.keyboard.press('Escape')
      await panel.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: '1. Show the people behind “Order paid”' }).click()
    await showsOnly('Ada')
    // The right half of the first bar is who went no further.
    const bar = page.getByTitle('No further than Viewed a page: 1.')
    await bar.click()
    await showsOnly('Grace')
    await page.getByRole('button', { name: /^1 went no further\. Show the people behind/ }).click()
    await showsOnly('Grace')
    await openWithin(page, '/insights/retention')
    await page.getByRole('button', { name: /^2\. Show the people behind “Started / }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Grace' }).waitFor()
    await page.keyboard.press('Escape')
    await openWithin(page, '/insights/paths')
    await page.getByRole('button', { name: '2. Show the people behind “/ → /pricing”' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Ada' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: '/pricing, 2. Show the people' }).press('Enter')
    await page.getByRole('dialog', { name: '/pricing' }).getByRole('link', { name: 'Grace' }).waitFor()
    await page.keyboard.press('Escape')
    // The band lies between the two nodes.
    const { x = 0, y = 0, height = 0 } = (await page.getByRole('group', { name: 'Flow of visits' }).boundingBox()) ?? {}
    await page.mouse.click(x + 150, y + height / 2)
    await page.getByRole('dialog', { name: '/ → /pricing' }).getByRole('link', { name: 'Ada' }).waitFor()
    await page.keyboard.press('Escape')
    const trend = { series: [{ event: 'page_view', metric: 'unique_people' }, { event: 'order_paid' }] }
    await openWithin(page, `/insights?question=${encodeURIComponent(JSON.stringify(trend))}`)
    const chart = page.getByRole('slider', { name: 'Figures by day' })
    await chart.press('Enter')
    await page
      .getByRole('dialog', { name: /^Viewed a page: people, / })
      .getByRole('link', { name: 'Grace' })
      .waitFor()
    await page.keyboard.press('Escape')
    await chart.press('ArrowDown')
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/, so far: Order paid: 1; /)
    await chart.press('Enter')
    await page
      .getByRole('dialog', { name: /^Order paid, / })
      .getByRole('link', { name: 'Ada' })
      .waitFor()
    await page.keyboard.press('Escape')
    // Today is at the right, and 2 at the top.
    const { width = 0 } = (await chart.boundingBox()) ?? {}
    await chart.click({ position: { x: width - 14, y: 14 } })
    await page
      .getByRole('dialog', { name: /^Viewed a page: people, / })
      .getByRole('link', { name: 'Ada' })
      .waitFor()
  })

  test('each chart is a picture in the light scheme, with what it is about', async () => {
    const page = await open('/insights', { scheme: 'dark', width: 390 })
    for (const path of ['/insights', '/insights/funnel', '/insights/retention', '/insights/paths']) {
      await openWithin(page, path)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download the chart as PNG' }).click()
      const file = await download
      const { width, height, corner, colored } = await page.evaluate(
        pixelsOf,
        (await contentOf(file)).toString('base64'),
      )
      expect([file.suggestedFilename(), width, corner]).toEqual([
        expect.stringMatching(/^(trend|funnel|retention|paths)\.png$/),
        2_400,
        [255, 255, 255, 255],
      ])
      expect(height).toBeGreaterThan(400)
      // Lines, bars, cells and bands are colored; letters are not.
      expect(colored).toBeGreaterThan(500)
    }
  })

  test('on a phone the question is one line above the answer, until it is edited', async () => {
    const page = await open('/insights', { width: 390 })
    const line = page.getByRole('button', { name: /^Viewed a page: people, by day, last 30 days ?Edit$/ })
    await line.waitFor()
    const event = page.getByRole('combobox', { name: 'Event of Series A' })
    expect(await event.isVisible()).toBe(false)
    await line.click()
    await page.getByRole('combobox', { name: 'Interval' }).selectOption('By week')
    const changed = page.getByRole('button', { name: /^Viewed a page: people, by week, last 30 days ?Close$/ })
    await changed.click()
    expect(await event.isVisible()).toBe(false)
    expect(await checkPage(page, 'insights-line')).toEqual([])
  })

  test('an empty page proposes questions about the events that were seen, and says what the others lack', async () => {
    const page = await open('/insights')
    const cards = page.getByRole('list', { name: 'Questions to start with' })
    await cards.getByText('Send an event such as sign_up', { exact: false }).first().waitFor()
    await cards.getByRole('link', { name: 'Revenue by campaign' }).click()
    await totals(page).getByRole('row', { name: 'No value' }).waitFor()
    expect(asked(page)).toMatchObject({
      series: [{ event: 'order_paid', metric: 'sum', property: 'data.amount' }],
      breakdown: ['utm_campaign'],
    })
    expect(await cards.count()).toBe(0)
    const own = await createTestTenant(service)
    await own.track({ visitor_id: 'a', events: [{ event: 'page_view' }, { event: 'signed_up' }, { event: 'invited' }] })
    const other = await browser.signedIn(own, { path: '/insights' })
    await other.getByRole('link', { name: 'Sign-up funnel' }).click()
    await other.getByText('1. Viewed a page').waitFor()
    await other.getByText('3. Invited').waitFor()
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})

/** Runs in the page: the size of a picture, its first pixel, and how many are colored below its title and its legend. */
async function pixelsOf(base64: string) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const { width, height } = picture
  const context = new OffscreenCanvas(width, height).getContext('2d')
  if (!context) throw new Error('There is no canvas.')
  context.drawImage(picture, 0, 0)
  const { data } = context.getImageData(0, 240, width, height - 240)
  let colored = 0
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, , blue = 0] = data.subarray(at, at + 3)
    if (blue - red > 20) colored++
  }
  return { width, height, corner: [...context.getImageData(0, 0, 1, 1).data], colored }
}
