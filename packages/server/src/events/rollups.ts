import { DAY_MS } from '../platform/time.ts'
import { type EventConditions, eventConditions, storableTime } from './conditions.ts'
import { EVENT_FILTERS, type EventFilters } from './filters.ts'
import { ROLLUPS } from './table.ts'

const DAY = 'toDate(timestamp)'
const ALWAYS: readonly string[] = ['is_bot', DAY]

/**
 * The conditions of a query that a rollup can serve, which is a hundredth of the size of the events: it groups by some
 * of a rollup's columns, or by day, and filters by those and by whole days.
 * @returns null for any other query.
 */
export function rollupConditions(filters: EventFilters, groupedBy: readonly string[]): EventConditions | null {
  const { contact_id, contact_ids, contacts_of_company, ...plain } = filters
  if (contact_id !== undefined || contact_ids !== undefined || contacts_of_company !== undefined) return null
  if (plain.where) return null
  const { date_after, date_before, includeSystem, visibleOnly, identified_only, where: _, ...rest } = plain
  // The default is false, which does not filter.
  const others = identified_only ? { ...rest, identified_only } : rest
  const names = Object.keys(others).filter((name) => others[name as keyof typeof others] !== undefined)
  const filtered = names.flatMap((name) => columnsOf(name as keyof typeof EVENT_FILTERS))
  const needed = [...groupedBy.map(withoutTime), ...filtered].filter((column) => !ALWAYS.includes(column))
  const { by_day, devices } = ROLLUPS
  const has = ({ columns }: { columns: readonly string[] }) => needed.every((column) => columns.includes(column))
  if (![by_day, devices].some(has)) return null
  if (date_after && date_after.getTime() % DAY_MS !== 0) return null
  if (date_before && (date_before.getTime() + 1) % DAY_MS !== 0) return null
  return dayConditions(plain)
}

/** The conditions of filters over whole days, in the rollups' spelling. */
export function dayConditions(filters: Parameters<typeof eventConditions>[0]): EventConditions {
  const { date_after, date_before, ...others } = filters
  const { where, parameters } = eventConditions(others)
  const bounds = { from_day: [date_after, '>='], to_day: [date_before, '<='] } as const
  for (const [name, [moment, operator]] of Object.entries(bounds)) {
    if (!moment) continue
    where.push(`${DAY} ${operator} toDate({${name}: String})`)
    parameters[name] = storableTime(moment).slice(0, 10)
  }
  return { where, parameters }
}

/** The column of an equality filter; other comparisons cannot use rollups. */
function columnsOf(name: keyof typeof EVENT_FILTERS): readonly string[] {
  const { comparison, columns } = EVENT_FILTERS[name]
  return comparison === 'belongs_to' || comparison === 'is_identified' ? ['owner_id'] : columns
}

/** Weeks and months are derived from days. */
function withoutTime(expression: string): string {
  return expression.includes(DAY) ? DAY : expression
}
