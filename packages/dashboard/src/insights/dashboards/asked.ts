import type { Dashboard, Report, Tile } from '../../api/types.ts'
import { parseEventFilter } from '../../filters/filter-text.ts'
import { isShared } from '../question.ts'

/** What all reports of a dashboard are asked with. */
export type Defaults = Pick<Dashboard, 'range' | 'where'>

/** Whose interval may be too short for the range of the dashboard; a longer one then takes its place. */
const WITH_INTERVALS: ReadonlySet<Report['kind']> = new Set(['trend', 'retention', 'web'])

/** The question of a tile, as the service asks it when it runs a dashboard: a number is compared with the period before. */
export function askedBy(
  { kind, question }: Pick<Report, 'kind' | 'question'>,
  view: Tile['view'],
  { range, where }: Defaults,
): Report['question'] {
  const { date_from: _from, date_to: _to, last: _last, ...withoutRange } = question
  const own = Array.isArray(question.where) ? question.where : []
  return {
    ...(view === 'number' ? { compare: 'previous_period' } : {}),
    ...(WITH_INTERVALS.has(kind) ? { longer_interval: true } : {}),
    ...(range === null ? question : { ...withoutRange, ...range }),
    ...(where.length === 0 ? {} : { where: [...own, ...where] }),
  }
}

/** The range and the conditions in the URL, which are tried; what is not there, or broken, is that of the dashboard. */
export function triedOf(search: { range?: string; where?: string }, stored: Defaults): Defaults {
  const where = parseEventFilter(search.where)
  return {
    range: rangeIn(search.range) ?? (search.range === NO_RANGE ? null : stored.range),
    where: where ? conditionsOf(where) : stored.where,
  }
}

/** In the URL: each report has its own. */
const NO_RANGE = 'null'
/** In the URL: no conditions, where the dashboard has some. */
export const NO_WHERE = '{"match":"all","conditions":[]}'

/** For the URL. */
export function rangeText(range: Defaults['range']): string {
  return JSON.stringify(range)
}

function rangeIn(text: string | undefined): Defaults['range'] {
  try {
    const value: unknown = JSON.parse(text ?? NO_RANGE)
    if (!isShared(value)) return null
    const { last, date_from, date_to } = value as NonNullable<Defaults['range']>
    if (last !== undefined) return { last }
    if (date_from === undefined) return null
    return { date_from, ...(date_to === undefined ? {} : { date_to }) }
  } catch {
    return null
  }
}

type EventFilter = NonNullable<ReturnType<typeof parseEventFilter>>

/** Conditions on events as a filter, which can be shown and changed. */
export function filterOf(where: readonly unknown[]): EventFilter | undefined {
  return parseEventFilter(JSON.stringify({ match: 'all', conditions: where }))
}

/** The other way round: a dashboard's conditions must all be true. */
function conditionsOf(filter: EventFilter): unknown[] {
  return filter.match === 'all' || filter.conditions.length < 2 ? filter.conditions : [filter]
}
