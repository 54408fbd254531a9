import { DAY_MS, HOUR_MS, unitSinceEpoch } from '../../platform/time.ts'

/** JavaScript has no later dates. The validation of the event reports them. */
const MOMENT_MS_MAX = 8_000_000_000_000_000
const HOURS_REMEMBERED_MAX = 10_000

/** A time zone. */
export interface Zone {
  name: string
  /** Its offset from UTC at a moment, in milliseconds. */
  offsetAt(ms: number): number
  /** Converts local time, given as if it were UTC, to UTC. The result has the unit of the input. */
  toUtc(time: number): number
}

/** @returns null if the name is not a time zone. */
export function openZone(name: string): Zone | null {
  const format = formatOf(name)
  if (format === null) return null
  // Offsets change at most twice a year, so each hour is treated as having one offset.
  const offsets = new Map<number, number>()
  const offsetAt = (ms: number): number => {
    if (name === 'UTC') return 0
    const hour = Math.floor(ms / HOUR_MS)
    const known = offsets.get(hour)
    if (known !== undefined) return known
    if (offsets.size >= HOURS_REMEMBERED_MAX) offsets.clear()
    const at = new Date(hour * HOUR_MS)
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour: hours = 0, minute = 0, second = 0 } = parts
    const offset = Date.UTC(year, month - 1, day, hours, minute, second) - at.getTime()
    offsets.set(hour, offset)
    return offset
  }
  const toUtc = (time: number): number => {
    const unit = unitSinceEpoch(time)
    const shown = time * unit
    if (!(Math.abs(shown) < MOMENT_MS_MAX)) return time
    // The first guess gives the right offset, except within hours of a change, where the second guess does.
    const guess = shown - offsetAt(shown)
    return (shown - offsetAt(guess)) / unit
  }
  return { name, offsetAt, toUtc }
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return null
  }
}

/** The day of a moment in a time zone, as 2026-01-31. */
export function dayOf(at: Date, zone: Zone): string {
  return new Date(at.getTime() + zone.offsetAt(at.getTime())).toISOString().slice(0, 10)
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)
}
