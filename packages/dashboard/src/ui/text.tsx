import { Anchor, Text, type TextProps, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMinute } from './use-minute.ts'

/** Longer than this nobody reads in a list; the whole text would only slow the page. */
const CLAMP = 300

/**
 * A text that came from outside: isolated, so that one written from right to left leaves its surroundings alone, and
 * cut where it is too long to be of use.
 */
export function Foreign({ children, max = CLAMP }: { children: string; max?: number }) {
  const text = children.length > max ? `${children.slice(0, max)}…` : children
  return <bdi>{text}</bdi>
}

/** A missing value. */
export function None() {
  return (
    <Text span c="dimmed" inherit role="img" aria-label="none">
      –
    </Text>
  )
}

/** A web address as a link when it is one; anything else (`javascript:` …) stays a text. */
export function ExternalLink({ url, children }: { url: string; children?: ReactNode }) {
  const label = children ?? <Foreign max={120}>{url.replace(/^https?:\/\//, '')}</Foreign>
  if (!isWebAddress(url)) return <span>{label}</span>
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" inherit title={url.slice(0, 1_000)}>
      {label}
    </Anchor>
  )
}

/** Where an address leads, without what follows its path: campaigns make addresses longer than a line. */
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

/** A moment: how long ago in words, the exact time on hover and to the screen reader. */
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

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const DAY_PARTS = { day: 'numeric', month: 'short', year: 'numeric' } as const
const DAY = new Intl.DateTimeFormat(undefined, DAY_PARTS)
/** A day of the calendar is the same day everywhere: west of Greenwich, midnight UTC would be the day before. */
const CALENDAR_DAY = new Intl.DateTimeFormat(undefined, { ...DAY_PARTS, timeZone: 'UTC' })
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

export function formatMoment(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : MOMENT.format(date)
}

/** The day of a moment where the reader is, or a day of the calendar (`2026-01-31`). */
export function formatDay(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  return (at.length === 10 ? CALENDAR_DAY : DAY).format(date)
}

/** "3 hr. ago", within a month; further away the date says more. */
export function formatAgo(at: string): string {
  const age = new Date(at).getTime() - Date.now()
  if (Number.isNaN(age) || Math.abs(age) > 30 * 86_400_000) return formatDay(at)
  for (const [unit, length] of UNITS) {
    if (Math.abs(age) >= length) return AGO.format(Math.trunc(age / length), unit)
  }
  return 'just now'
}

const NUMBER = new Intl.NumberFormat()

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}
