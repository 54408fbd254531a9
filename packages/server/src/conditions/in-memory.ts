import type { EventRecord } from '../journal/event-record.ts'
import { foldText } from '../platform/clickhouse/folded-text.ts'
import { DAY_MS, parseTimestamp } from '../platform/time.ts'
import { boundIn } from './bounds.ts'
import { eventPropertyNamed, itemsInData } from './event-property.ts'
import { type ConditionOnEvent, isNested, type PropertyCondition, type PropertyOperator } from './language.ts'

/**
 * Whether an event that was just recorded meets conditions, all of them: the same answer as ClickHouse's.
 * @param now what `within_days` counts back from
 */
export function meetsAll(event: EventRecord, where: readonly ConditionOnEvent[], now: Date): boolean {
  return where.every((condition) => meets(event, condition, now))
}

function meets(event: EventRecord, condition: ConditionOnEvent, now: Date): boolean {
  if (!isNested(condition)) return isMet(itemsOf(event, condition.property), condition, now)
  const { match, conditions } = condition
  return match === 'all'
    ? conditions.every((each) => meets(event, each, now))
    : conditions.some((each) => meets(event, each, now))
}

/** A property's value in an event: its items, of which a value that is no list is the only one. */
function itemsOf(event: EventRecord, name: string): unknown[] {
  const property = eventPropertyNamed(name)
  if (property === null) return []
  if (property.kind === 'data') return itemsInData(JSON.parse(event.data), property.path)
  const value = event[property.column]
  if (property.kind === 'time') return [new Date(Number(value)).toISOString()]
  return value === '' ? [] : [value]
}

const NEGATIVE: Partial<Record<PropertyOperator, PropertyOperator>> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_in: 'in',
  is_not_set: 'is_set',
}

/** A comparison with a missing value is false, and its negation true. */
function isMet(
  items: readonly unknown[],
  { operator, value }: Omit<PropertyCondition, 'property'>,
  now: Date,
): boolean {
  const positive = NEGATIVE[operator]
  if (positive) return !isMet(items, { operator: positive, ...(value === undefined ? {} : { value }) }, now)
  const part = foldText(String(value))
  switch (operator) {
    case 'is_set':
      return items.some((item) => item !== '' && !isEmpty(item))
    case 'equals':
    case 'in':
      return items.some((item) => [value].flat().includes(item as string))
    case 'contains':
      return items.some((item) => foldText(textOf(item)).includes(part))
    case 'starts_with':
      return items.some((item) => foldText(textOf(item)).startsWith(part))
    case 'ends_with':
      return items.some((item) => foldText(textOf(item)).endsWith(part))
    case 'gt':
      return items.some((item) => numberOf(item) > Number(value))
    case 'gte':
      return items.some((item) => numberOf(item) >= Number(value))
    case 'lt':
      return items.some((item) => numberOf(item) < Number(value))
    case 'lte':
      return items.some((item) => numberOf(item) <= Number(value))
    case 'before':
      return items.some((item) => timeOf(item) <= boundIn('UTC', String(value), 'end').getTime())
    case 'after':
      return items.some((item) => timeOf(item) >= boundIn('UTC', String(value), 'start').getTime())
    case 'within_days':
      return items.some(
        (item) => timeOf(item) <= now.getTime() && timeOf(item) >= now.getTime() - Number(value) * DAY_MS,
      )
    default:
      throw new Error(`A condition on an event has the operator ${operator}.`)
  }
}

function isEmpty(item: unknown): boolean {
  return typeof item === 'object' && item !== null && Object.keys(item).length === 0
}

/** A number or a flag as text; an object or a list in a list is none. */
function textOf(item: unknown): string {
  return typeof item === 'object' ? '' : String(item)
}

const NUMERIC_TEXT = /^\s*[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})\s*$/

function numberOf(item: unknown): number {
  if (typeof item === 'number') return item
  return typeof item === 'string' && NUMERIC_TEXT.test(item) ? Number(item) : Number.NaN
}

function timeOf(item: unknown): number {
  return (typeof item === 'string' ? parseTimestamp(item)?.getTime() : undefined) ?? Number.NaN
}
