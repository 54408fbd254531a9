import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { sharedChromium } from '../../server/test/chromium.ts'
import { RESPONSE_MS_MAX } from '../src/request.ts'
import { BATCH_MS } from '../src/transport.ts'
import { FINGERPRINT_MS_MAX } from '../src/visitor.ts'

/**
 * The worker's window for tests that need none of their own. Each test has its own host, so it finds no cookie and nothing
 * stored. The hosts belong to one site, for whose pages a tab keeps its process and the compiled tracker.
 */
let shared: Promise<BrowserContext> | undefined
/** The tabs of that window that no test uses now. */
const idle: Page[] = []

export interface TabOptions {
  /** Another window than the one that tests share. */
  context?: BrowserContext
  /** Runs in the page before its own scripts. */
  before?: () => unknown
  /** A new tab with the tracker's real waits and timeouts. */
  impatient?: boolean
}

/** A window with cookies of its own, for one test. */
export async function openWindow(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const window = await (await sharedChromium()).newContext(options)
  onTestFinished(() => window.close())
  return window
}

/** A tab for one test. The tracker in it sends sooner and waits longer, unless `impatient`. */
export async function openTab({ context, before, impatient = false }: TabOptions = {}): Promise<Page> {
  if (context || impatient) {
    const page = await newTab(context ?? (await sharedWindow()), impatient)
    if (before) await page.addInitScript(before)
    onTestFinished(() => page.close())
    return page
  }
  const page = await lendTab()
  const script = before && (await page.addInitScript(before))
  onTestFinished(async () => {
    await script?.dispose()
    await returnTab(page)
  })
  return page
}

/** A tab of the shared window, until it is returned. */
export async function lendTab(): Promise<Page> {
  return takeIdle() ?? (await newTab(await sharedWindow(), false))
}

/**
 * An empty page of the same site replaces its page, whose tracker would go on: it retries, and writes to the console that the next
 * test reads. The site stays the same, so that the tab keeps its process.
 */
export async function returnTab(page: Page): Promise<void> {
  const window = page.context()
  // Also if the page is closed: the window is another test's.
  await window.unrouteAll({ behavior: 'ignoreErrors' })
  await window.setOffline(false)
  if (page.isClosed()) return
  page.removeAllListeners()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  try {
    if (/^https?:/.test(page.url())) await page.goto(new URL('/empty', page.url()).href)
    idle.push(page)
  } catch {
    // Its site is gone.
    await page.close()
  }
}

function sharedWindow(): Promise<BrowserContext> {
  shared ??= sharedChromium().then((browser) => browser.newContext())
  return shared
}

function takeIdle(): Page | undefined {
  for (;;) {
    const page = idle.pop()
    if (!page?.isClosed()) return page
  }
}

async function newTab(window: BrowserContext, impatient: boolean): Promise<Page> {
  const page = await window.newPage()
  if (!impatient)
    await page.addInitScript(changeWaits, { longer: [RESPONSE_MS_MAX, FINGERPRINT_MS_MAX], sooner: BATCH_MS })
  return page
}

/**
 * Runs in a page. Batches leave sooner, so that tests need not wait for them. The tracker's timeouts are longer: on a busy
 * machine, late responses would cause retries, and a slow fingerprint would not be used.
 */
function changeWaits({ longer, sooner }: { longer: number[]; sooner: number }): void {
  const { setTimeout } = window
  const abortAfter = AbortSignal.timeout.bind(AbortSignal)
  const changed = (wait = 0) => {
    if (longer.includes(wait)) return wait * 10
    return wait === sooner ? wait / 20 : wait
  }
  Object.assign(window, { setTimeout: (run: () => void, wait?: number) => setTimeout(run, changed(wait)) })
  AbortSignal.timeout = (wait) => abortAfter(changed(wait))
  Object.defineProperty(XMLHttpRequest.prototype, 'timeout', { set: () => {} })
}
