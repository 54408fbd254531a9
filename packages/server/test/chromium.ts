import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** `npm test` installs Chromium where that is possible, and says so where it is not. */
export const HAS_BROWSER = existsSync(CHROMIUM)

let browser: Promise<Browser> | undefined

/** The Chromium that the files of one worker share. It ends with the worker. */
export function sharedChromium(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  return browser
}
