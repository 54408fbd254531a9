import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { sharedService, type TestService } from '../../server/test/service.ts'
import { accessibilityProblems, checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('the documentation', () => {
  let service: TestService
  let browser: TestBrowser
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
  })
  afterAll(() => browser?.close())

  test.each([
    ['docs', '/docs'],
    ['docs-node', '/docs/quickstart/node'],
    ['docs-webhook', '/docs/recipes/receive-a-webhook'],
    ['docs-agents', '/docs/agents'],
  ])('%s: axe finds nothing, and nothing is wider than the window', async (name, path) => {
    const page = await browser.tab()
    await page.goto(path)
    expect(await checkPage(page, name)).toEqual([])
    expect(browser.problems).toEqual([])
  })

  // It has the parts of the others, and 20 times as many.
  test('docs-cli: axe finds nothing, and nothing is wider than the window', async () => {
    const page = await browser.tab({ width: 360 })
    await page.goto('/docs/cli')
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(await wide()).toBeLessThanOrEqual(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await page.setViewportSize({ width: 1600, height: 1000 })
    expect(await wide()).toBeLessThanOrEqual(0)
    expect(browser.problems).toEqual([])
  })

  /** Whether the page is set in the font that the service brings along. */
  const hasOurFont = async (page: Page) => {
    const heading = page.getByRole('heading', { level: 1 }).first()
    expect(await heading.evaluate((element) => getComputedStyle(element).fontFamily)).toMatch(/^"?Inter"?,/)
    const loaded = () =>
      page.evaluate(() => [...document.fonts].filter((face) => face.status === 'loaded').map((face) => face.family))
    await expect.poll(loaded).toContain('Inter')
  }

  test('the pages are set in the font that the service brings along; the search opens with a key and leads to a part of a page', async () => {
    const page = await browser.tab()
    await page.goto('/docs')
    await hasOurFont(page)
    await page.keyboard.press('/')
    const search = page.getByRole('dialog', { name: 'Search the documentation' })
    await search.getByRole('searchbox').fill('verify signature')
    await search.getByRole('link', { name: /Verifying signatures/ }).waitFor()
    await screenshot(page, 'docs-search')
    expect(await search.locator('mark').first().textContent()).toMatch(/verify|signature/i)
    await search.getByRole('searchbox').fill('zzqx')
    await search.getByText('Nothing found').waitFor()
    await search.getByRole('searchbox').fill('/v1/identify')
    await search.getByRole('link', { name: /^POST \/v1\/identify/ }).waitFor()
    await search.getByRole('searchbox').fill('verifying signatures')
    await search.getByRole('link', { name: /Verifying signatures/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/webhooks#verifying-signatures')
    expect(browser.problems).toEqual([])
  })

  test('the colors follow the system until someone chooses, and the choice stays', async () => {
    const page = await browser.tab({ scheme: 'dark' })
    await page.goto('/docs')
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    expect(await scheme()).toBe('dark')
    await page.getByRole('button', { name: 'Use light colors' }).click()
    expect(await scheme()).toBe('light')
    await page.goto('/docs/concepts')
    expect(await scheme()).toBe('light')
    await page.getByRole('button', { name: 'Use dark colors' }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('a language that is chosen once is shown everywhere', async () => {
    const page = await browser.tab()
    await page.goto('/docs/recipes/receive-a-webhook')
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByRole('tabpanel', { name: 'Python' }).getByText('BaseHTTPRequestHandler').first().waitFor()
    expect(await page.getByRole('tabpanel', { name: 'Node' }).isVisible()).toBe(false)
    await page.goto('/docs/identification')
    expect(await page.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).toBe('true')
    expect(browser.problems).toEqual([])
  })

  test('on a phone the navigation is behind a button', async () => {
    const page = await browser.tab({ width: 360 })
    await page.goto('/docs')
    const contents = page.getByRole('navigation', { name: 'Documentation' })
    expect(await contents.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Navigation' }).click()
    await screenshot(page, 'docs-menu')
    await contents.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.waitForURL('**/docs/webhooks')
    expect(await contents.isVisible()).toBe(false)
    expect(browser.problems).toEqual([])
  })

  test('code can be copied', async () => {
    const page = await browser.tab()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/docs/quickstart/website')
    await page.getByRole('button', { name: 'Copy' }).nth(1).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('/tracker.js"></script>')
    await page.context().clearPermissions()
  })

  test('the API reference shows an operation with its example, in both colors and in our font', async () => {
    const page = await browser.tab({ scheme: 'dark' })
    await page.goto('/docs')
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'API reference' }).click()
    await page.getByRole('heading', { name: 'Customer Data Service' }).waitFor()
    await hasOurFont(page)
    // What a reader looks for comes before the checks of the process.
    const groups = page.getByText(/^(Open|Close) Group - /)
    await groups.filter({ hasText: 'Health' }).waitFor()
    const names = (await groups.allTextContents()).map((name) => name.replace(/^.* - /, ''))
    expect(names.indexOf('Health')).toBeGreaterThan(names.indexOf('SDKs'))
    expect(names[0]).toBe('Contacts')
    await page.goto('/docs')
    await page.goto('/docs/api#tag/contacts/POST/v1/contacts')
    await page.getByRole('heading', { name: 'Create a contact' }).waitFor()
    await page.getByText('Analytical Engines').locator('visible=true').first().waitFor()
    const body = page.locator('body')
    await expect.poll(() => body.getAttribute('class')).toContain('dark-mode')
    await page.getByRole('button', { name: 'Use light colors' }).click()
    await expect.poll(() => body.getAttribute('class')).toContain('light-mode')
    await screenshot(page, 'docs-api')
    expect(browser.problems).toEqual([])
  })
})
