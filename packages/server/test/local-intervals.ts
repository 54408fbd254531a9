/*
 * Local hours, days, weeks and months, found by asking what a clock shows every half hour: for naive computations, with no
 * code of the service.
 */

const STEP_MS = 30 * 60_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** What a clock shows, `2026-03-29 03:30`. */
function shown(zone: string, at: number): string {
  let format = formats.get(zone)
  if (!format) {
    const [date, time] = [
      { year: 'numeric', month: '2-digit', day: '2-digit' } as const,
      { hour: '2-digit', minute: '2-digit' } as const,
    ]
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...date, ...time })
    formats.set(zone, format)
  }
  return format.format(at)
}

function keyAt(unit: string, zone: string, at: number): string {
  const text = shown(zone, at)
  const [date = '', time = ''] = text.split(' ')
  if (unit === 'month') return date.slice(0, 7)
  if (unit === 'day') return date
  if (unit === 'week') return weekOf(new Date(`${date}T00:00:00Z`))
  const offset = (Date.parse(`${date}T${time}:00Z`) - at) / 60_000
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
  const pad = (number: number) => String(number).padStart(2, '0')
  return `${date}T${time.slice(0, 2)}:00${offset < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
}

/** The ISO week of a day: that of the year in which its Thursday is. */
function weekOf(day: Date): string {
  const thursday = new Date(day)
  thursday.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = Math.ceil(((thursday.getTime() - newYear) / 86_400_000 + 1) / 7)
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}

/**
 * The keys of the intervals of a range, and when each begins, with those of so many further ones and the end of the last.
 */
export function localIntervals(unit: string, zone: string, from: number, until: number, further: number) {
  let begin = Math.floor(from / STEP_MS) * STEP_MS
  while (keyAt(unit, zone, begin - STEP_MS) === keyAt(unit, zone, begin)) begin -= STEP_MS
  const [keys, starts] = [[keyAt(unit, zone, begin)], [begin]]
  let inRange = 1
  for (let at = begin + STEP_MS; starts.length < inRange + further + 1; at += STEP_MS) {
    const key = keyAt(unit, zone, at)
    if (key === keys.at(-1)) continue
    keys.push(key)
    starts.push(at)
    if (at <= until) inRange++
  }
  return { keys: keys.slice(0, inRange), starts }
}
