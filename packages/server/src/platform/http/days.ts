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

/** The range of the same length that ends where this one starts. */
export function rangeBefore({ from, to }: Range): Range {
  const length = to.getTime() - from.getTime() + 1
  return { from: new Date(from.getTime() - length), to: new Date(from.getTime() - 1) }
}

/**
 * The days (UTC) that are entirely in one of two adjacent ranges, from the first to the last; if there are none, the
 * last ends before the first starts. `isCut`: one day between them is partly in each.
 */
export function wholeDaysOf(before: Range, { from, to }: Range): Range & { isCut: boolean } {
  return {
    from: new Date(Math.ceil(before.from.getTime() / DAY_MS) * DAY_MS),
    to: new Date(startOfDay(new Date(to.getTime() + 1)).getTime() - 1),
    isCut: startOfDay(from).getTime() !== from.getTime(),
  }
}

/** Every day (UTC) of a range, as YYYY-MM-DD. */
export function daysOf({ from, to }: Range): string[] {
  const days: string[] = []
  for (let day = startOfDay(from).getTime(); day <= to.getTime(); day += DAY_MS) {
    days.push(new Date(day).toISOString().slice(0, 10))
  }
  return days
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS)
}
