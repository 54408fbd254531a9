import { attemptEvent, latestBegins, stepsMet, stepsThatShare, walkable, windowMsOf } from '../conditions/attempts.ts'
import { boundIn } from '../conditions/bounds.ts'
import { eventPropertyNamed } from '../conditions/event-property.ts'
import {
  type CountCondition,
  type CountOperator,
  type EventMatch,
  isMetByNothing,
  type MeasureCondition,
  matchesIn,
  type OwnQuestion,
  type SequenceMatch,
} from '../conditions/language.ts'
import { compileItems, compileWhere, type EventContext, itemsOf, numberOf } from '../conditions/to-clickhouse.ts'
import { eventConditions, withPrefix } from '../events/conditions.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { DAY_MS } from '../platform/time.ts'

/** A question about the events of contacts, as parts of a query that groups by owner and then by contact. */
interface CompiledQuestion {
  /** Whether an event matters for the answer. */
  isMatched: string
  /** What is computed of the events of each owner: `expression AS name`. */
  ofOwner: string[]
  /** The answer, of what was computed of a contact's owners: true if it differs from the answer of somebody without events. */
  isMet: string
  parameters: QueryParameters
}

/** @param prefix of the names of columns and placeholders, which are distinct within a query. */
export function compileQuestion(question: OwnQuestion, prefix: string, context: EventContext): CompiledQuestion {
  const steps = matchesIn(question).map((match, index) => compileMatch(match, `${prefix}${index}_`, context))
  const parameters: QueryParameters = Object.assign({}, ...steps.map((each) => each.parameters))
  const conditions = steps.map(({ sql }) => sql)
  const isMatched = `(${conditions.join(' OR ')})`
  if ('sequence' in question) return { isMatched, parameters, ...compileSequence(question, conditions, prefix) }
  const { ofOwner, isMet } = compileFigures(question, isMatched, prefix, context, parameters)
  return { isMatched, parameters, ofOwner, isMet: isMetByNothing(question) ? `NOT (${isMet})` : isMet }
}

/** The condition that a single event matches. */
export function compileMatch(match: EventMatch, prefix: string, context: EventContext) {
  const { within_days, after, before, where, type, types, visible_only: visibleOnly } = match
  const { text, text_contains, url_contains, class_contains, element_id } = match
  const { now, zone } = context
  const since = within_days === undefined ? [] : [new Date(now.getTime() - within_days * DAY_MS)]
  const from = after === undefined ? since : [...since, boundIn(zone, after, 'start')]
  const filters = {
    ...defined({ text, text_contains, url_contains, class_contains, element_id, event_type: type, event_types: types }),
    ...(visibleOnly ? { visibleOnly } : {}),
    ...(from.length === 0 ? {} : { date_after: new Date(Math.max(...from.map(Number))) }),
    ...(before === undefined ? {} : { date_before: boundIn(zone, before, 'end') }),
  }
  const own = withPrefix(prefix, eventConditions(filters))
  const compiled = where && where.length > 0 ? compileWhere(where, `${prefix}w`, context) : null
  const conditions = [...own.where, ...(compiled ? [compiled.sql] : [])]
  return {
    sql: `(${conditions.map((condition) => `(${condition})`).join(' AND ') || '1'})`,
    parameters: { ...own.parameters, ...compiled?.parameters },
  }
}

function defined<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function compileFigures(
  { min_count, count, measure }: EventMatch,
  isMatched: string,
  prefix: string,
  context: EventContext,
  parameters: QueryParameters,
): Pick<CompiledQuestion, 'ofOwner' | 'isMet'> {
  const least: CountCondition | undefined = min_count === undefined ? count : { operator: 'gte', value: min_count }
  const asked = least ?? (measure ? undefined : ({ operator: 'gte', value: 1 } as const))
  const ofOwner = asked ? [`countIf(${isMatched}) AS ${prefix}n`] : []
  const isMet = asked ? [`sum(found.${prefix}n) ${COMPARISONS[asked.operator]} ${Math.trunc(asked.value)}`] : []
  if (measure) {
    const compiled = compileMeasure(measure, isMatched, `${prefix}m`, context)
    Object.assign(parameters, compiled.parameters)
    ofOwner.push(...compiled.ofOwner)
    isMet.push(compiled.isMet)
  }
  return { ofOwner, isMet: isMet.join(' AND ') }
}

const COMPARISONS: Record<CountOperator, string> = {
  equals: '=',
  not_equals: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
}

function compileMeasure(
  { function: name, property, ...condition }: MeasureCondition,
  isMatched: string,
  prefix: string,
  context: EventContext,
): Pick<CompiledQuestion, 'ofOwner' | 'isMet' | 'parameters'> {
  const { sql: items, parameters } = itemsOf(eventPropertyNamed(property), `${prefix}i`)
  const has = `${isMatched} AND notEmpty(${items})`
  if (name === 'first' || name === 'last') {
    const [at, when] = name === 'first' ? ['argMinIf', 'minIf'] : ['argMaxIf', 'maxIf']
    const time = `(timestamp, ${EVENT_ID_ORDER})`
    const value = `${at}(found.${prefix}v, found.${prefix}t, notEmpty(found.${prefix}v))`
    const compared = compileItems(value, condition, `${prefix}c`, context)
    return {
      ofOwner: [`${at}(${items}, ${time}, ${has}) AS ${prefix}v`, `${when}(${time}, ${has}) AS ${prefix}t`],
      isMet: compared.sql,
      parameters: { ...parameters, ...compared.parameters },
    }
  }
  const figure = name === 'distinct' ? distinctOf(items, isMatched, prefix) : numbersOf(name, items, isMatched, prefix)
  const compared = compileFigure(figure.value, condition, `${prefix}c`)
  return { ofOwner: figure.ofOwner, isMet: compared.sql, parameters: { ...parameters, ...compared.parameters } }
}

/** How many different values a property has. `value` is computed of what `ofOwner` gives for each owner, named `found`. */
export function distinctOf(items: string, isMatched: string, prefix: string) {
  return {
    ofOwner: [`groupUniqArrayArrayIf(${items}, ${isMatched}) AS ${prefix}d`],
    value: `length(groupUniqArrayArray(found.${prefix}d))`,
  }
}

/** The same for a figure of its numbers, null without any. */
export function numbersOf(name: 'sum' | 'avg' | 'min' | 'max', items: string, isMatched: string, prefix: string) {
  const numbers = `arrayMap(x -> assumeNotNull(x), arrayFilter(x -> isNotNull(x), arrayMap(v -> ${numberOf('v')}, ${items})))`
  const count = `sumIf(length(${numbers}), ${isMatched}) AS ${prefix}k`
  if (name === 'min' || name === 'max') {
    const of = `${name}If(array${name === 'min' ? 'Min' : 'Max'}(${numbers}), ${isMatched} AND notEmpty(${numbers}))`
    const value = `${name}If(found.${prefix}e, found.${prefix}k > 0)`
    return { ofOwner: [count, `${of} AS ${prefix}e`], value: `if(sum(found.${prefix}k) = 0, NULL, ${value})` }
  }
  const sum = rounded(`sumKahan(found.${prefix}s)`)
  const figure = name === 'sum' ? sum : `${sum} / sum(found.${prefix}k)`
  return {
    ofOwner: [count, `sumKahanIf(arraySum(${numbers}), ${isMatched}) AS ${prefix}s`],
    value: `if(sum(found.${prefix}k) = 0, NULL, ${figure})`,
  }
}

/** A sum to 15 significant digits, so that 0.1 + 0.2 is 0.3. */
function rounded(sum: string): string {
  return `if(${sum} = 0, 0, round(${sum}, toInt8(14 - floor(log10(abs(${sum}))))))`
}

/** Compares a figure with numbers. A missing figure meets only negative operators. */
function compileFigure(
  figure: string,
  { operator, value }: Pick<MeasureCondition, 'operator' | 'value'>,
  prefix: string,
): { sql: string; parameters: QueryParameters } {
  const parameters = Object.fromEntries([value ?? []].flat().map((each, index) => [`${prefix}${index}`, Number(each)]))
  const names = Object.keys(parameters).map((name) => `{${name}: Float64}`)
  const isOne = `ifNull(${names.map((name) => `${figure} = ${name}`).join(' OR ') || '0'}, 0)`
  switch (operator) {
    case 'is_set':
      return { sql: `isNotNull(${figure})`, parameters }
    case 'is_not_set':
      return { sql: `isNull(${figure})`, parameters }
    case 'equals':
    case 'in':
      return { sql: isOne, parameters }
    case 'not_equals':
    case 'not_in':
      return { sql: `NOT ${isOne}`, parameters }
    default:
      return { sql: `ifNull(${figure} ${COMPARISONS[operator as CountOperator]} ${names[0]}, 0)`, parameters }
  }
}

/** Whether the steps were done one after another: whether an attempt reaches the last one. */
function compileSequence(
  { sequence, within }: SequenceMatch,
  conditions: readonly string[],
  prefix: string,
): Pick<CompiledQuestion, 'ofOwner' | 'isMet'> {
  const steps = stepsMet(conditions)
  const sharing = stepsThatShare(sequence.map(({ type, types }) => (type === undefined ? (types ?? null) : [type])))
  const events = walkable(`arraySort(groupArrayArray(found.${prefix}e))`, sharing, 'ordered', prefix)
  const begins = latestBegins(`${prefix}events`, sharing, windowMsOf(within), prefix)
  return {
    ofOwner: [`groupArrayIf(${attemptEvent(steps)}, ${steps} != 0) AS ${prefix}e`],
    isMet: `notEmpty(${events} AS ${prefix}events) AND arrayExists(b -> b >= 0, ${begins})`,
  }
}
