import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Download, JSHandle, Page } from 'playwright-core'
import { onTestFinished, TestRunner } from 'vitest'
import type { Role } from '../../server/src/operations/roles.ts'
import { sharedChromium } from '../../server/test/chromium.ts'
import { createPerson, startSession } from '../../server/test/people.ts'
import type { TestService, TestTenant } from '../../server/test/service.ts'
import { ensureBuilt } from '../ensure-built.ts'

const SCREENSHOTS = fileURLToPath(new URL('./screenshots/', import.meta.url))

type SessionCookie = Parameters<BrowserContext['addCookies']>[0][number]

export type ColorScheme = 'light' | 'dark'

/**
 * Idle tabs of finished tests, by their options. A tab that is used again has fetched and compiled the
 * pages' scripts; each new one would spend two seconds of processor time on that.
 */
const idleTabs = new Map<string, Page[]>()

interface TabOptions {
  width?: number
  scheme?: ColorScheme
  /** An unused tab, which has fetched nothing yet. */
  fresh?: boolean
}

/** Tabs of the worker's browser, which record problems of our pages. */
export class TestBrowser {
  /** Problems of the pages: errors, policy violations, requests to other hosts. */
  readonly problems: string[] = []
  readonly #browser: Browser
  readonly #service: TestService
  readonly #tabs = new Set<Page>()
  /** Cookies by tenant and role: a tenant's person with a role stays signed in across tests. */
  readonly #sessions = new Map<string, SessionCookie[]>()

  constructor(browser: Browser, service: TestService) {
    this.#browser = browser
    this.#service = service
  }

  /**
   * A tab with cookies of its own. One that a test opens is another test's when it ends, unless the test has closed it,
   * as it must when it did what cannot be taken back, such as changing the tab's clock.
   */
  async tab({ width = 1600, scheme = 'light', fresh = false }: TabOptions = {}): Promise<Page> {
    const page = (fresh ? undefined : this.#takeIdle()) ?? (await this.#newPage())
    this.#tabs.add(page)
    if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => this.#giveBack(page))
    await page.setViewportSize({ width, height: width < 600 ? 780 : 1000 })
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    page.on('pageerror', (error) => this.problems.push(`error: ${error.message}`))
    page.on('console', (message) => {
      const text = message.text()
      // The browser reports every response above 399 itself; tests check how the page handles it.
      if (message.type() === 'error' && !text.startsWith('Failed to load resource')) this.problems.push(text)
    })
    page.on('request', (request) => {
      const url = request.url()
      const isOurs = url.startsWith(`${this.#service.url}/`) || /^(data|blob|about):/.test(url)
      if (!isOurs) this.problems.push(`request to elsewhere: ${url}`)
    })
    return page
  }

  get #idle(): Page[] {
    const tabs = idleTabs.get(this.#service.url) ?? []
    idleTabs.set(this.#service.url, tabs)
    return tabs
  }

  #takeIdle(): Page | undefined {
    for (;;) {
      const page = this.#idle.pop()
      if (!page?.isClosed()) return page
    }
  }

  async #newPage(): Promise<Page> {
    const window = await this.#browser.newContext({ baseURL: this.#service.url, locale: 'en-GB' })
    return window.newPage()
  }

  async #giveBack(page: Page): Promise<void> {
    if (page.isClosed() || !this.#tabs.delete(page)) return
    const window = page.context()
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await window.setOffline(false)
    // Otherwise another document, so that what the app holds is gone, and what it does stops.
    if (!(await leaveFrame(page))) await page.goto('/favicon.svg')
    await page.evaluate(() => [localStorage, sessionStorage].map((storage) => storage.clear()))
    await window.clearCookies()
    this.#idle.push(page)
  }

  /** A tab in which the tenant's person with this role is signed in. */
  async signedIn(
    tenant: TestTenant,
    { role = 'owner', path = '/', ...options }: { role?: Role; path?: string } & TabOptions = {},
  ): Promise<Page> {
    const page = await this.tab(options)
    const who = `${tenant.id} ${role}`
    const cookies = this.#sessions.get(who) ?? (await this.#signIn(tenant, role))
    this.#sessions.set(who, cookies)
    await page.context().addCookies(cookies)
    await open(page, path)
    // On a phone it is hidden, and hidden elements have no role.
    await page.locator('nav[aria-label="Main"]').waitFor({ state: 'attached' })
    return page
  }

  /** A tab in which nobody is signed in. */
  async signedOut(path: string): Promise<Page> {
    const page = await this.tab()
    await open(page, path)
    return page
  }

  /** A new person's session, with the cookie that the sign-in page would set. */
  async #signIn(tenant: TestTenant, role: Role): Promise<SessionCookie[]> {
    const userId = await insertPerson(this.#service, tenant.id, role, newAddress(role))
    const cookie = await startSession(this.#service, userId)
    return [{ ...cookie, url: this.#service.url, httpOnly: true, sameSite: 'Lax' }]
  }

  async close(): Promise<void> {
    const pages = this.#service.isShared ? this.#tabs : [...this.#tabs, ...this.#idle.splice(0)]
    await Promise.all([...pages].map((page) => page.context().close()))
  }
}

/** A browser, and the service's pages, rebuilt if their sources have changed. */
export async function openBrowser(service: TestService): Promise<TestBrowser> {
  const said: string[] = []
  await ensureBuilt((message) => said.push(message))
  if (said.length > 0 && said.at(-1) !== 'the dashboard is built') throw new Error(said.join('\n'))
  return new TestBrowser(await sharedChromium(), service)
}

let people = 0

/** A person with a role in a tenant and PASSWORD. @returns the email address. */
export async function person(service: TestService, tenantId: string, role: Role): Promise<string> {
  const email = newAddress(role)
  await insertPerson(service, tenantId, role, email)
  return email
}

const newAddress = (role: Role) => `${role}${++people}.${process.pid}@example.com`

/** @returns the user id. */
function insertPerson({ stores }: TestService, tenantId: string, role: Role, email: string): Promise<string> {
  return createPerson(stores, tenantId, { email, role, name: 'Robin Marsh' })
}

/**
 * Opens a page of the app that a tab shows, without loading the app again, which would take ten times as long. The page before
 * is gone, and what it fetched is forgotten, so the new one has to ask for all that it shows.
 */
export async function openWithin(page: Page, path: string): Promise<void> {
  await leavePage(page)
  await show(page, path)
}

/** Opens the address anew, as after a reload: only what the service, the browser or the address stores is still there. */
export async function reopen(page: Page): Promise<void> {
  const { pathname, search, hash } = new URL(page.url())
  await openWithin(page, pathname + search + hash)
}

/** Leaves the frame's page, and forgets what it fetched. */
export async function leavePage(page: Page): Promise<void> {
  await show(page, '/no-such-page')
  await page.locator('#main').getByRole('heading', { name: 'Page not found' }).waitFor()
  const client = await queryClientOf(page)
  if (!client) throw new Error('The page has no query client.')
  await client.evaluate((each) => each.removeQueries({ type: 'inactive' }))
  await client.dispose()
}

/** Shows another page of the app as a link would. */
export function show(page: Page, path: string): Promise<void> {
  return page.evaluate((address) => history.pushState(null, '', address), path)
}

/** Where a tab waits for its next test: a page without the frame, which asks the service for nothing. */
const WAITS_AT = '/reset-password'

const isWaiting = (page: Page) => new URL(page.url()).pathname === WAITS_AT

/** Loads the app only if the tab does not have it from an earlier test. */
async function open(page: Page, path: string): Promise<void> {
  if (isWaiting(page)) await show(page, path)
  else await page.goto(path)
}

/**
 * Leaves the frame with all that its pages hold, and forgets every response, so that the tab is like one that has just loaded
 * the app.
 * @returns false if the tab shows something else, or if something would stay: what the browser stores, of which the app has
 *   a copy, or a request that may open another page when it ends.
 */
async function leaveFrame(page: Page): Promise<boolean> {
  const client = await queryClientOf(page)
  if (!client) return false
  if (await client.evaluate((each) => localStorage.length > 0 || each.isMutating() > 0)) return false
  await show(page, WAITS_AT)
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  await client.evaluate(async (each) => {
    await each.cancelQueries()
    each.clear()
    for (const button of document.querySelectorAll<HTMLElement>('.mantine-Notification-closeButton')) button.click()
  })
  await client.dispose()
  await page.locator('.mantine-Notification-root').first().waitFor({ state: 'detached' })
  return true
}

interface QueryClient {
  removeQueries(filter: { type: 'inactive' }): void
  cancelQueries(): Promise<void>
  clear(): void
  isMutating(): number
}

/** What keeps the app's responses; undefined if the tab shows something else. */
async function queryClientOf(page: Page): Promise<JSHandle<QueryClient> | undefined> {
  const client = await page.evaluateHandle(findQueryClient)
  return (await client.evaluate((each) => each !== undefined)) ? (client as JSHandle<QueryClient>) : undefined
}

/** Runs in the page: the query client is known to React alone. */
function findQueryClient(): QueryClient | undefined {
  const kept = Object.values(document.getElementById('root') ?? {}) as { stateNode?: { current: Fiber } }[]
  const fibers: (Fiber | null)[] = kept.flatMap(({ stateNode }) => stateNode?.current ?? [])
  for (let fiber = fibers.pop(); fiber !== undefined; fiber = fibers.pop()) {
    if (fiber?.memoizedProps?.client) return fiber.memoizedProps.client
    if (fiber) fibers.push(fiber.sibling, fiber.child)
  }
  return undefined
}

/** React's data of an element. Only the query client's provider has a `client`. */
interface Fiber {
  child: Fiber | null
  sibling: Fiber | null
  memoizedProps: { client?: QueryClient } | null
}

const KEEPS_PICTURES = process.env.TEST_PICTURES === 'on'
/** The minified one: the other, which the package exports as text, takes the browser twice as long to read. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PICTURE_HEIGHT_MAX = 10_000

/** With TEST_PICTURES=on a picture of the page is kept for people to look at, in a folder that is not part of the repository. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!KEEPS_PICTURES) return
  const window = page.viewportSize()
  await makeTall(page)
  await keepPicture(page, name)
  if (window) await page.setViewportSize(window)
}

/**
 * Makes the window as high as the page, so that a picture shows all of it. Not `fullPage`, for which Chromium makes the
 * window narrow for a moment: what is open on a wide page would close.
 */
async function makeTall(page: Page): Promise<void> {
  const window = page.viewportSize()
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  if (!window || height <= window.height) return
  await page.setViewportSize({ ...window, height: Math.min(height, PICTURE_HEIGHT_MAX) })
}

/** The same, of what the window shows. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!KEEPS_PICTURES) return
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png` })
}

export const DESK = { width: 1600, height: 1000 }
const PHONE = { width: 360, height: 780 }

/**
 * Looks at a page as it is in the light scheme at a desk with all rules, and in the dark one on a phone with those about colors
 * and layout: the scheme changes nothing but colors, and the width little else than the layout. `page-states.test.ts` looks at
 * every page in more ways (`checkWholePage`).
 * @returns what axe finds wrong, and where the page is wider than the window.
 */
export async function checkPage(page: Page, name: string): Promise<string[]> {
  const problems = [
    ...(await problemsOf(page, `${name}-desk`, { ...DESK, scheme: 'light' }, 'all')),
    ...(await problemsOf(page, `${name}-phone-dark`, { ...PHONE, scheme: 'dark' }, 'about layout')),
  ]
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light' })
  return problems
}

/** The same, with all rules on the phone too, which shows other elements, and with those about colors at the desk in the dark. */
export async function checkWholePage(page: Page, name: string): Promise<string[]> {
  const problems = [
    ...(await problemsOf(page, `${name}-desk`, { ...DESK, scheme: 'light' }, 'all')),
    ...(await problemsOf(page, `${name}-desk-dark`, { ...DESK, scheme: 'dark' }, 'about color')),
    ...(await problemsOf(page, `${name}-phone-dark`, { ...PHONE, scheme: 'dark' }, 'all')),
  ]
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light' })
  return problems
}

interface Look {
  width: number
  height: number
  scheme: ColorScheme
}

async function problemsOf(page: Page, where: string, look: Look, rules: Rules): Promise<string[]> {
  const { width, height, scheme } = look
  const before = page.viewportSize()
  if (before?.width !== width || before.height !== height) await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' })
  await nextFrame(page)
  await screenshot(page, where)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  const tooWide = wide > 0 ? [`${where}: ${wide} px wider than the window`] : []
  return [...tooWide, ...(await accessibilityProblems(page, rules)).map((problem) => `${where}: ${problem}`)]
}

/** Waits until the page is rendered and its listeners are attached. */
export function nextFrame(page: Page): Promise<void> {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))))
}

type Rules = 'all' | 'about color' | 'about layout'

/** Violations of WCAG 2.2 AA on the current page according to axe: one line each, with the first elements. */
export async function accessibilityProblems(page: Page, rules: Rules = 'all'): Promise<string[]> {
  // Through the protocol, because the page's policy blocks other scripts; once for each loaded page.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (which) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const colorRules = axe.getRules(tags).filter((rule) => rule.tags.includes('cat.color'))
    const aboutColor = colorRules.map(({ ruleId }) => ruleId)
    const values = which === 'about color' ? aboutColor : [...aboutColor, 'target-size', 'scrollable-region-focusable']
    const { violations } = await axe.run(document, {
      runOnly: which === 'all' ? { type: 'tag', values: tags } : { type: 'rule', values },
      resultTypes: ['violations'],
    })
    return violations.map(({ id, nodes }) => {
      const places = nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary ?? ''}`)
      return `${id} (${nodes.length}): ${places.join(' | ')}`
    })
  }, rules)
}

interface Axe {
  getRules(tags: string[]): { ruleId: string; tags: string[] }[]
  run(
    root: Document,
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}

/** The content of a file that a page has saved. */
export async function contentOf(file: Download): Promise<Buffer> {
  const stream = await file.createReadStream()
  return Buffer.from(await new Response(stream as unknown as ReadableStream).arrayBuffer())
}

/** Waits until the page shows all that it has asked for. */
export async function isLoaded(page: Page): Promise<void> {
  const loading = page.locator('#main').locator('[role=status][aria-label^=Load], [aria-busy=true]')
  await loading.first().waitFor({ state: 'detached' })
}
