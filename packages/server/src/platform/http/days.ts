import { validationError } from '../errors.ts'
import { DAY_MS } from '../time.ts'
import { timestampBound } from './query-parameters.ts'

const DAYS_MAX = 732
const DAYS_USUALLY = 28

/** The `from` and `to` of a request about a range of days. */
export const rangeParameters = {
  from: timestampBound('lower', 'Start of the range. Default: 28 days before the end.'),
  to: timestampBound('upper', 'End of the range. Default: now.'),
}

export interface Range {
  from: Date
  to: Date
}

/** The range of a request; without bounds, the last 28 days including today. @throws ServiceError 400. */
export function rangeOf(query: { from?: Date | undefined; to?: Date | undefined }, now: Date): Range {
  const to = query.to ?? now
  const from = query.from ?? new Date(startOfDay(to).getTime() - (DAYS_USUALLY - 1) * DAY_MS)
  if (from > to) throw validationError([{ path: 'from', message: 'must not be later than to' }])
  if (to.getTime() - from.getTime() > DAYS_MAX * DAY_MS) {
    throw validationError([{ path: 'from', message: `must be at most ${DAYS_MAX} days before to` }])
  }
  return { from, to }
}

/**
 * The preceding range of the same length: this one, moved back by whole days. One that ends now is compared with one that
 * ended at the same time of day; what came between the two, less than a day, is in neither.
 */
export function rangeBefore({ from, to }: Range): Range {
  const days = Math.ceil((to.getTime() - from.getTime() + 1) / DAY_MS)
  const back = (moment: Date) => new Date(moment.getTime() - days * DAY_MS)
  return { from: back(from), to: back(to) }
}

/**
 * The days (UTC) that are entirely in a range or in the one before it, from the first to the last, except the `cut` ones,
 * which the end of the first range or the start of the second falls into. If there are none, the last ends before the first starts.
 */
export function wholeDaysOf(before: Range, { from, to }: Range): Range & { cut: string[] } {
  const isWholeUntil = (moment: Date) => startOfDay(moment).getTime() === moment.getTime()
  const cuts = [
    ...(isWholeUntil(new Date(before.to.getTime() + 1)) ? [] : [before.to]),
    ...(isWholeUntil(from) ? [] : [from]),
  ]
  return {
    from: new Date(Math.ceil(before.from.getTime() / DAY_MS) * DAY_MS),
    to: new Date(startOfDay(new Date(to.getTime() + 1)).getTime() - 1),
    cut: [...new Set(cuts.map(dayOf))],
  }
}

/** Every day (UTC) of a range, as YYYY-MM-DD. */
export function daysOf({ from, to }: Range): string[] {
  const days: string[] = []
  for (let day = startOfDay(from).getTime(); day <= to.getTime(); day += DAY_MS) {
    days.push(dayOf(new Date(day)))
  }
  return days
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS)
}
