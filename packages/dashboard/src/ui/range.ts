import { day, oneOf } from '../session/search-params.ts'
import { text } from './text.ts'

/** The search parameters of a range of days, for a route to include. */
export const rangeSearch = { range: oneOf('7d', '28d', '90d', '365d', 'custom'), from: day, to: day }

export interface RangeSearch {
  range?: '7d' | '28d' | '90d' | '365d' | 'custom'
  from?: string
  to?: string
}

export const RANGES = [
  { value: '7d', label: text.dateRange.presets['7d'], days: 7 },
  { value: '28d', label: text.dateRange.presets['28d'], days: 28 },
  { value: '90d', label: text.dateRange.presets['90d'], days: 90 },
  { value: '365d', label: text.dateRange.presets['365d'], days: 365 },
] as const

export const DAY_MS = 86_400_000
const DEFAULT_DAYS = 28

/** The first and the last day (UTC) of a range, relative to today. */
export function resolveRange({ range, from, to }: RangeSearch, now = new Date()): { from: string; to: string } {
  const today = dayOf(now)
  if (range === 'custom' && from !== undefined) {
    const until = to ?? today
    return from <= until ? { from, to: until } : { from: until, to: from }
  }
  const days = RANGES.find(({ value }) => value === range)?.days ?? DEFAULT_DAYS
  return { from: dayOf(new Date(now.getTime() - (days - 1) * DAY_MS)), to: today }
}

/** Every day of a range, so that days without data appear on the axis. */
export function daysOf({ from, to }: { from: string; to: string }): string[] {
  const days: string[] = []
  for (let at = Date.parse(from); at <= Date.parse(to) && days.length < 1_000; at += DAY_MS) {
    days.push(dayOf(new Date(at)))
  }
  return days
}

/** The first and the last day of a day (`2026-01-31`), an ISO week (`2026-W05`) or a month (`2026-01`). */
export function daysOfPeriod(period: string): { from: string; to: string } {
  if (period.length === 10) return { from: period, to: period }
  const [year, part] = period.split('-').map((number) => Number(number.replace('W', '')))
  if (year === undefined || part === undefined) return { from: period, to: period }
  if (!period.includes('W')) {
    return { from: dayOf(new Date(Date.UTC(year, part - 1, 1))), to: dayOf(new Date(Date.UTC(year, part, 0))) }
  }
  // 4 January is always in the first ISO week of its year.
  const fourth = Date.UTC(year, 0, 4)
  const monday = fourth + ((part - 1) * 7 - ((new Date(fourth).getUTCDay() + 6) % 7)) * DAY_MS
  return { from: dayOf(new Date(monday)), to: dayOf(new Date(monday + 6 * DAY_MS)) }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
