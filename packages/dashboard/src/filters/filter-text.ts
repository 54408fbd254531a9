import type { SegmentFilter } from '../api/types.ts'
import type { FilterOfEvents } from './draft.ts'

/** Filters that fit into a URL. */
const FILTER_LENGTH_MAX = 6_000

/** Reads the filter in a URL, so that a broken link still opens. @returns its JSON. */
export function filterParam(value: string): string | undefined {
  return value.length <= FILTER_LENGTH_MAX && parseFilter(value) ? value : undefined
}

/** A filter as JSON; undefined if the form could not show it. The service checks the rest. */
export function parseFilter(text: string | undefined): SegmentFilter | undefined {
  return parsed(text, isCondition) as SegmentFilter | undefined
}

function parsed(text: string | undefined, isPart: (condition: unknown) => boolean): unknown {
  if (text === undefined) return undefined
  try {
    const filter: unknown = JSON.parse(text)
    return isFilter(filter, isPart) ? filter : undefined
  } catch {
    return undefined
  }
}

/** The same for a filter of events. */
export function eventFilterParam(value: string): string | undefined {
  return value.length <= FILTER_LENGTH_MAX && parseEventFilter(value) ? value : undefined
}

export function parseEventFilter(text: string | undefined): FilterOfEvents | undefined {
  return parsed(text, isOnEvent) as FilterOfEvents | undefined
}

/** For a URL; nothing without conditions. */
export function filterText(filter: { conditions: readonly unknown[] }): string | undefined {
  return filter.conditions.length === 0 ? undefined : JSON.stringify(filter)
}

/** What is shown, and removed, separately: each condition, unless only one of them has to match. */
export function partsOf<Filter extends { match: 'all' | 'any'; conditions: readonly unknown[] }>(
  filter: Filter,
): { key: string; part: Filter; rest: Filter | undefined }[] {
  const { match, conditions } = filter
  if (match === 'any' && conditions.length > 1) return [{ key: 'any', part: filter, rest: undefined }]
  return conditions.map((condition, index) => {
    const others = conditions.filter((_, place) => place !== index)
    return {
      key: `${index} ${JSON.stringify(condition)}`,
      part: { ...filter, conditions: [condition] },
      rest: others.length > 0 ? { ...filter, conditions: others } : undefined,
    }
  })
}

type Fields = Record<string, unknown>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFilter(value: unknown, isPart: (condition: unknown) => boolean): boolean {
  if (!isFields(value) || !Array.isArray(value.conditions)) return false
  return (value.match === 'all' || value.match === 'any') && value.conditions.every(isPart)
}

function isCondition(value: unknown): boolean {
  if (!isFields(value)) return false
  if ('conditions' in value) return isFilter(value, isCondition)
  if ('event' in value) return isMatch(value.event)
  if ('insight' in value) return isInsight(value)
  if ('sequence' in value) return isList(value.sequence, isMatch) && isFields(value.within)
  return isProperty(value)
}

function isOnEvent(value: unknown): boolean {
  if (!isFields(value)) return false
  return 'conditions' in value ? isFilter(value, isOnEvent) : isProperty(value)
}

function isProperty({ property, operator, value = '' }: Fields): boolean {
  const isValue = Array.isArray(value) ? value.every(isScalar) : isScalar(value)
  return typeof property === 'string' && typeof operator === 'string' && isValue
}

function isInsight({ insight, question, at, operator }: Fields): boolean {
  return typeof insight === 'string' && isFields(question) && isFields(at) && typeof operator === 'string'
}

const TEXTS = ['type', 'text', 'text_contains', 'url_contains', 'class_contains', 'element_id', 'after', 'before']

function isMatch(value: unknown): boolean {
  if (!isFields(value)) return false
  const { types = [], where = [], count = {}, measure = { property: '', operator: '' } } = value
  return (
    TEXTS.every((name) => ['string', 'undefined'].includes(typeof value[name])) &&
    isList(types, (each) => typeof each === 'string') &&
    isList(where, isOnEvent) &&
    isFields(count) &&
    isFields(measure) &&
    isProperty(measure)
  )
}

function isList(value: unknown, isPart: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isPart)
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
