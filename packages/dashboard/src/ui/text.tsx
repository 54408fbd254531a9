import { Anchor, Text, type TextProps, Tooltip } from '@mantine/core'
import { type ReactNode, useSyncExternalStore } from 'react'
import { formatAgo, formatMoment } from './format.ts'
import { readableAddress } from './readable-address.ts'
import { text } from './text.ts'

/** Longer texts are useless in a list and would slow the page. */
const CLAMP = 300

/**
 * Text from outside: isolated, so that right-to-left text does not affect its surroundings, and truncated.
 */
export function Foreign({ children, max = CLAMP }: { children: string; max?: number }) {
  const readable = readableAddress(children)
  const shown = readable.length > max ? `${readable.slice(0, max)}…` : readable
  return <bdi>{shown}</bdi>
}

/** Text from outside within a sentence: the characters that isolate its direction around it. */
export function isolated(words: string): string {
  return `\u2068${words}\u2069`
}

/** A missing value. */
export function None() {
  return (
    <Text span c="dimmed" inherit role="img" aria-label={text.none}>
      {text.dash}
    </Text>
  )
}

/** A link for a web address; anything else (`javascript:` …) stays text. */
export function ExternalLink({ url, children }: { url: string; children?: ReactNode }) {
  const label = children ?? <Foreign max={120}>{url.replace(/^https?:\/\//, '')}</Foreign>
  if (!isWebAddress(url)) return <span>{label}</span>
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" inherit title={url.slice(0, 1_000)}>
      {label}
    </Anchor>
  )
}

/** A URL up to its path: campaign parameters are longer than a line. */
export function placeOf(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/[?#].*$/s, '')
}

export function isWebAddress(url: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol)
  } catch {
    return false
  }
}

/** A time: relative in words, exact on hover and for screen readers. */
export function Moment({ at, ...props }: { at: string } & TextProps) {
  useMinute()
  const exact = formatMoment(at)
  return (
    <Tooltip label={exact}>
      <Text component="time" dateTime={at} inherit={props.size === undefined} span {...props}>
        {formatAgo(at)}
      </Text>
    </Tooltip>
  )
}

const MINUTE_MS = 60_000
const minuteListeners = new Set<() => void>()
let minuteTimer: ReturnType<typeof setInterval> | undefined

/** Renders a component again every minute, so that relative times stay correct. */
function useMinute(): void {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / MINUTE_MS))
}

/** One timer for all relative times of a page. */
function subscribe(listener: () => void): () => void {
  minuteListeners.add(listener)
  minuteTimer ??= setInterval(() => {
    for (const each of minuteListeners) each()
  }, 10_000)
  return () => {
    minuteListeners.delete(listener)
    if (minuteListeners.size > 0) return
    clearInterval(minuteTimer)
    minuteTimer = undefined
  }
}
