import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** `TEST_CHROMIUM=PATH` chooses one. The headless build renders pages with the same engine and needs less processor time. */
const CHROMIUM =
  process.env.TEST_CHROMIUM ||
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A tab lives for a file: long enough for V8's quick optimizing compiler, too short for the thorough one. A larger nursery
  // avoids garbage collections.
  '--js-flags=--no-opt --min-semi-space-size=16',
]

/** Ends only what hangs: Playwright's own 30 seconds are a race on a busy machine. */
const STEP_WITHIN_MS = 180_000

/** `npm test` installs Chromium if possible, and reports it if not. */
export const HAS_BROWSER = CHROMIUM !== undefined

let browser: Promise<Browser> | undefined

/** The Chromium shared by the files of one worker. It ends with the worker. */
export function sharedChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('There is no Chromium: run npm test, which installs it.')
  browser ??= launch(CHROMIUM)
  return browser
}

async function launch(executablePath: string): Promise<Browser> {
  const launched = await chromium.launch({ executablePath, args: FLAGS })
  launched.on('context', (context) => context.setDefaultTimeout(STEP_WITHIN_MS))
  return launched
}
