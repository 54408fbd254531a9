import Bowser from 'bowser'
import { isbot } from 'isbot'
import type { ClientHints } from './client-hints.ts'

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

/** Browser, operating system and device as named by bowser ('' if unknown), and whether it is a robot. */
export function parseUserAgent(header: string | undefined, _hints: ClientHints | null = null): UserAgent {
  const text = (header ?? '').slice(0, LENGTH_MAX)
  const remembered = known.get(text)
  if (remembered) return remembered
  const parsed = parse(text)
  if (known.size >= CACHED_MAX) known.clear()
  known.set(text, parsed)
  return parsed
}

function parse(text: string): UserAgent {
  if (text === '') return { browser: '', os: '', deviceType: '', isBot: false }
  const { browser, os, platform } = Bowser.parse(text)
  return {
    browser: browser.name ?? '',
    os: os.name ?? '',
    deviceType: platform.type ?? '',
    isBot: isbot(text),
  }
}
