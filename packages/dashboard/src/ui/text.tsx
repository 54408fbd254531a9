import { Anchor, Text, type TextProps, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatAgo, formatMoment } from './format.ts'
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
