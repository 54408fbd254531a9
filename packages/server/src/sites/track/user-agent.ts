import Bowser from 'bowser'
import { isbot } from 'isbot'
import { browserName } from './browsers.ts'
import type { ClientHints } from './client-hints.ts'
import { deviceTypeOf } from './devices.ts'

export interface UserAgent {
  browser: string
  os: string
  deviceType: string
  isBot: boolean
}

const CACHED_MAX = 5_000
/** No browser sends longer ones, and parsing runs regular expressions over them. */
const LENGTH_MAX = 1_024

const known = new Map<string, UserAgent>()

/**
 * Browser, operating system and device ('' if unknown), and whether it is a robot. The names are bowser's, which is also asked for
 * what the lists of browsers and devices do not say.
 */
export function parseUserAgent(header: string | undefined, hints: ClientHints | null = null): UserAgent {
  const text = (header ?? '').slice(0, LENGTH_MAX)
  const key = hints === null ? text : `${text}\n${hints.platform}\n${hints.isMobile}\n${hints.brands.join()}`
  const remembered = known.get(key)
  if (remembered) return remembered
  const parsed = parse(text, hints)
  if (known.size >= CACHED_MAX) known.clear()
  known.set(key, parsed)
  return parsed
}

function parse(text: string, hints: ClientHints | null): UserAgent {
  if (text === '') return { browser: '', os: '', deviceType: '', isBot: false }
  const { browser, os, platform } = Bowser.parse(text)
  return {
    browser: browserName(text, hints) || (browser.name ?? ''),
    os: os.name ?? hints?.platform ?? '',
    // A robot may name the device whose pages it wants, which bowser ignores.
    deviceType: platform.type === 'bot' ? 'bot' : deviceTypeOf(text, hints) || (platform.type ?? ''),
    isBot: isbot(text),
  }
}
