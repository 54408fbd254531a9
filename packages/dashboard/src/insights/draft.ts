import type { TrendSeries } from '../api/types.ts'
import { type ConditionOnEvent, type GroupDraft, newGroup } from '../filters/draft.ts'
import { countUnfinished, draftOf, type FieldTypes, filterOfEvents } from '../filters/draft-filter.ts'
import { type Interval, letterOf, type Meant, type SharedQuestion, type TrendQuestion } from './question.ts'
import { text } from './text.ts'

/** The state of a form: every part has an id, so that its fields keep their place, and conditions may be incomplete. */
export interface MeantDraft {
  id: string
  /** Empty for any event. */
  event: string
  /** In place of one event. */
  types?: string[]
  where: GroupDraft
  label?: string
}

export interface SharedDraft {
  range: Pick<SharedQuestion, 'date_from' | 'date_to' | 'last' | 'time_zone'>
  where: GroupDraft
  /** Whose events count. */
  people: SharedQuestion['people']
  includeBots: boolean
  compare: SharedQuestion['compare']
  /** The part of the people from which the answer is estimated; undefined: everybody. */
  sample: SharedQuestion['sample']
}

export interface SeriesDraft extends MeantDraft {
  metric: NonNullable<TrendSeries['metric']>
  property: string
}

export interface TrendDraft extends SharedDraft {
  series: SeriesDraft[]
  formula: string
  interval: Interval
  breakdown: string[]
  limit?: number
}

let ids = 0
const newId = () => `meant-${++ids}`

export function newMeant(event = ''): MeantDraft {
  return { id: newId(), event, where: newGroup() }
}

export function newSeries(event = ''): SeriesDraft {
  return { ...newMeant(event), metric: 'count', property: '' }
}

export function trendDraft(question: TrendQuestion): TrendDraft {
  const { series, formula = '', interval = 'day', breakdown = [], limit } = question
  return {
    ...sharedDraft(question),
    series: series.map((each) => ({
      ...meantDraft(each),
      metric: each.metric ?? 'count',
      property: each.property ?? '',
    })),
    formula,
    interval,
    breakdown,
    ...(limit === undefined ? {} : { limit }),
  }
}

export function trendQuestion(draft: TrendDraft, types: FieldTypes): TrendQuestion {
  const { series, formula, interval, breakdown, limit } = draft
  const named = breakdown.filter((name) => name !== '')
  return {
    ...sharedQuestion(draft, types),
    series: series.map((each) => ({
      ...meantQuestion(each, types),
      metric: each.metric,
      ...(needsProperty(each.metric) ? { property: each.property } : {}),
    })),
    interval,
    ...(formula.trim() === '' ? {} : { formula: formula.trim() }),
    ...(named.length > 0 ? { breakdown: named } : {}),
    ...(limit === undefined ? {} : { limit }),
  }
}

/** What is still missing before a trend can be asked for, in words; null if nothing is. */
export function missingInTrend({ series }: TrendDraft): string | null {
  const at = series.findIndex(({ metric, property }) => needsProperty(metric) && property === '')
  return at < 0 ? null : text.trend.choose(letterOf(at))
}

const OF_NUMBERS: readonly SeriesDraft['metric'][] = ['sum', 'avg', 'median', 'p90', 'min', 'max']

export function needsProperty(metric: SeriesDraft['metric']): boolean {
  return OF_NUMBERS.includes(metric)
}

export function sharedDraft(question: SharedQuestion): SharedDraft {
  const { date_from, date_to, last, time_zone, where, people, include_bots = false, compare, sample } = question
  return {
    range: given({ date_from, date_to, last, time_zone }),
    where: whereDraft(where),
    people,
    includeBots: include_bots,
    compare,
    sample,
  }
}

export function sharedQuestion(
  { range, where, people, includeBots, compare, sample }: SharedDraft,
  types: FieldTypes,
): SharedQuestion {
  return {
    ...range,
    ...whereQuestion(where, types),
    ...(people === undefined ? {} : { people }),
    ...(includeBots ? { include_bots: true } : {}),
    ...(compare === undefined ? {} : { compare }),
    ...(sample === undefined ? {} : { sample }),
  }
}

export function meantDraft({ event = '', types, where, label }: Meant): MeantDraft {
  return { id: newId(), event, where: whereDraft(where), ...given({ types, label }) }
}

export function meantQuestion({ event, types, where, label }: MeantDraft, fieldTypes: FieldTypes): Meant {
  const names = types === undefined ? { event: event === '' ? undefined : event } : { types: some(types) }
  return { ...given({ ...names, label }), ...whereQuestion(where, fieldTypes) }
}

function whereDraft(where: readonly unknown[] = []): GroupDraft {
  return draftOf({ match: 'all', conditions: where as ConditionOnEvent[] })
}

function whereQuestion(where: GroupDraft, types: FieldTypes): { where?: ConditionOnEvent[] } {
  const { conditions } = filterOfEvents(where, types)
  return conditions.length > 0 ? { where: conditions } : {}
}

/** The number of incomplete conditions of a question. */
export function unfinishedIn(shared: SharedDraft, meant: readonly MeantDraft[]): number {
  return [shared, ...meant].reduce((count, { where }) => count + countUnfinished(where), 0)
}

function some<Item>(list: Item[]): Item[] | undefined {
  return list.length > 0 ? list : undefined
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** The fields that have a value. */
function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>
}
