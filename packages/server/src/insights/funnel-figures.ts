import { stepsMet, timeOf } from '../conditions/attempts.ts'
import type { Sql } from '../conditions/event-property.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import type { Breakdown } from './breakdown.ts'
import { type AttemptColumns, type Attempts, attemptColumns, ofFirstEvent, REACHED, TIMES } from './funnel-attempts.ts'
import { type Asked, IS_OF_SOMEBODY, inRange, PERSON } from './question.ts'
import type { Range } from './range.ts'

export interface FunnelQuery extends Pick<Attempts, 'order' | 'windowMs' | 'sharing'> {
  asked: Asked
  range: Range
  countBy: 'people' | 'sessions'
  steps: readonly Sql[]
  excluded: readonly Sql[]
  breakdown: Breakdown | null
}

/** What a funnel says about a step. */
export interface StepFigures {
  count: number
  /** The median of the time from the step before; null at the first, and of nobody. */
  medianMs: number | null
}

type FunnelParts = Pick<EventSelect, 'where' | 'parameters' | 'withContacts' | 'groupBy'> & {
  lane: 'heavy'
  attempts: Attempts
}

/** What each query of a funnel's events has in common. */
export function partsOf({
  asked,
  range,
  countBy,
  steps,
  excluded,
  order,
  windowMs,
  sharing,
}: FunnelQuery): FunnelParts {
  const { where, parameters } = inRange(range)
  const named = [...steps, ...excluded]
  const isNamed = named.map(({ sql }) => sql).join(' OR ')
  const isExcluded = excluded.length === 0 ? null : `(${excluded.map(({ sql }) => sql).join(' OR ')})`
  // In strict order, each event counts that is not the service's own.
  const matters = order === 'strict' ? `is_system = 0 OR ${isNamed}` : isNamed
  const bySession = countBy === 'sessions'
  return {
    lane: 'heavy',
    withContacts: !bySession,
    where: [...where, ...asked.where, bySession ? "session_id != ''" : IS_OF_SOMEBODY, matters],
    parameters: Object.assign({}, asked.parameters, parameters, ...named.map((each) => each.parameters)),
    groupBy: bySession ? 'session_id' : PERSON,
    attempts: { order, windowMs, sharing, steps: steps.map(({ sql }) => sql), excluded: isExcluded },
  }
}

/** Sets of steps, counted from 0, of which no event meets steps of two. */
export async function setsThatShare(query: FunnelQuery): Promise<number[][]> {
  const { attempts, groupBy: _, ...parts } = partsOf(query)
  const rows = await query.asked.tenant.events.select<{ met: number }>({
    name: 'insights.funnel_steps',
    ...parts,
    withContacts: false,
    columns: `${stepsMet(attempts.steps)} AS met`,
    groupBy: 'met',
  })
  const events = rows.map(({ met }) => attempts.steps.flatMap((_, step) => (Number(met) & (2 ** step) ? [step] : [])))
  return joined([...attempts.steps.map((_, step) => [step]), ...events])
}

/** Sets that have something in common, as one. */
function joined(sets: readonly number[][]): number[][] {
  return sets.reduce<number[][]>((apart, set) => {
    const meets = (other: number[]) => other.some((each) => set.includes(each))
    return [...apart.filter((other) => !meets(other)), [...new Set([...apart.filter(meets).flat(), ...set])]]
  }, [])
}

/** The columns of a query by person, of several parts. */
export function columnsOf(...parts: AttemptColumns[]): Pick<EventSelect, 'columns' | 'derived'> {
  return {
    columns: parts.flatMap(({ ofEvents }) => ofEvents).join(', '),
    derived: parts.flatMap(({ derived }) => derived),
  }
}

/** The keys of an event, as a list. */
export function keysOf({ isList, sql }: Breakdown): string {
  return isList ? sql : `[toString(${sql})]`
}

/** The columns of an outer query with the figures of each step. */
function figuresOf({ steps }: FunnelQuery): string {
  const figures = steps.map((_, step) => {
    const isReached = `found.${REACHED} > ${step}`
    const duration = `${timeOf(`found.${TIMES}[${step + 1}]`)} - ${timeOf(`found.${TIMES}[${step}]`)}`
    const median = step === 0 ? 'NULL' : `quantileExactInclusiveOrNullIf(0.5)(${duration}, ${isReached})`
    return `(countIf(${isReached}), ${median})`
  })
  return `[${figures.join(', ')}] AS figures`
}

interface FiguresRow {
  figures: [count: number | string, median: number | null][]
}

function readFigures(row: FiguresRow | undefined, { steps }: FunnelQuery): StepFigures[] {
  return steps.map((_, step) => {
    const [count, median] = row?.figures[step] ?? [0, null]
    return { count: Number(count), medianMs: median === null ? null : Number(median) }
  })
}

const HAS_ATTEMPT = `found.${REACHED} > 0`

/** The steps of all. */
export async function stepsOfAll(query: FunnelQuery): Promise<StepFigures[]> {
  const { attempts, ...parts } = partsOf(query)
  const [row] = await query.asked.tenant.events.select<FiguresRow>({
    name: 'insights.funnel',
    ...parts,
    ...columnsOf(attemptColumns(attempts)),
    outer: { columns: figuresOf(query), where: HAS_ATTEMPT },
  })
  return readFigures(row, query)
}

export interface StepsByKey {
  all: StepFigures[]
  /** The largest by the first step, then by the JSON of the key; a missing value is last. */
  ofKeys: { key: string; steps: StepFigures[] }[]
}

/** The steps of all, and of the largest keys of a breakdown. */
export async function stepsByKey(query: FunnelQuery, breakdown: Breakdown, limit: number): Promise<StepsByKey> {
  const { attempts, ...parts } = partsOf(query)
  const rows = await query.asked.tenant.events.select<FiguresRow & { is_all: number; key: string }>({
    name: 'insights.funnel_by_key',
    ...parts,
    valuesOf: breakdown.valuesOf,
    parameters: { ...parts.parameters, ...breakdown.parameters },
    ...columnsOf(attemptColumns(attempts), ofFirstEvent(attempts, EVENT_ID_ORDER, keysOf(breakdown), 'keys')),
    outer: {
      columns: `arrayJoin(arrayPushBack(arrayMap(k -> (0, k), found.keys), (1, ''))) AS slot, slot.1 AS is_all, slot.2 AS key, ${figuresOf(query)}`,
      where: HAS_ATTEMPT,
      groupBy: 'slot',
      orderBy: `is_all DESC, figures[1].1 DESC, ${breakdown.isMissing('key')}, ${breakdown.order('key')}`,
      limit: limit + 1,
    },
  })
  const all = rows.find(({ is_all }) => Number(is_all) === 1)
  const others = rows.filter((row) => row !== all)
  return {
    all: readFigures(all, query),
    ofKeys: others.map((row) => ({ key: row.key, steps: readFigures(row, query) })),
  }
}

/** The steps of all who have a key that is not among some. */
export async function stepsBeyond(
  query: FunnelQuery,
  breakdown: Breakdown,
  keys: readonly string[],
): Promise<StepFigures[]> {
  const { attempts, ...parts } = partsOf(query)
  const isBeyond = `arrayExists(k -> NOT has({keys: Array(String)}, k), ${keysOf(breakdown)})`
  const [row] = await query.asked.tenant.events.select<FiguresRow>({
    name: 'insights.funnel_beyond',
    ...parts,
    valuesOf: breakdown.valuesOf,
    parameters: { ...parts.parameters, ...breakdown.parameters, keys: [...keys] },
    ...columnsOf(attemptColumns(attempts), ofFirstEvent(attempts, EVENT_ID_ORDER, isBeyond, 'is_beyond')),
    outer: { columns: figuresOf(query), where: `${HAS_ATTEMPT} AND found.is_beyond` },
  })
  return readFigures(row, query)
}
