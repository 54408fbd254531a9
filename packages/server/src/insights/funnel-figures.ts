import { stepsMet, timeOf } from '../conditions/attempts.ts'
import type { Sql } from '../conditions/event-property.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { type Breakdown, slotsOf } from './breakdown.ts'
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

type Parts = Pick<EventSelect, 'where' | 'parameters' | 'withContacts' | 'groupBy'> & {
  lane: 'heavy'
  attempts: Attempts
}

function partsOf({ asked, range, countBy, steps, excluded, order, windowMs, sharing }: FunnelQuery): Parts {
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

function columnsOf(...parts: AttemptColumns[]): Pick<EventSelect, 'columns' | 'derived'> {
  return {
    columns: parts.flatMap(({ ofEvents }) => ofEvents).join(', '),
    derived: parts.flatMap(({ derived }) => derived),
  }
}

/** The keys of a breakdown: the largest by the first step, then by the JSON of the key; a missing value is last. */
export async function largestKeys(query: FunnelQuery, breakdown: Breakdown, limit: number): Promise<string[]> {
  const { attempts, ...parts } = partsOf(query)
  const keys = breakdown.isList ? breakdown.sql : `[toString(${breakdown.sql})]`
  const rows = await query.asked.tenant.events.select<{ key: string }>({
    name: 'insights.funnel_keys',
    ...parts,
    parameters: { ...parts.parameters, ...breakdown.parameters },
    ...columnsOf(attemptColumns(attempts), ofFirstEvent(attempts, EVENT_ID_ORDER, keys, 'keys')),
    outer: {
      columns: 'arrayJoin(found.keys) AS key, count() AS people',
      where: `found.${REACHED} > 0`,
      groupBy: 'key',
      orderBy: `people DESC, ${breakdown.isMissing('key')}, ${breakdown.order('key')}`,
      limit,
    },
  })
  return rows.map(({ key }) => key)
}

/** The steps of all, then of all whose keys are not among some, then of each of these keys. */
export async function stepsByKey(query: FunnelQuery, keys: readonly string[]): Promise<StepFigures[][]> {
  const { attempts, ...parts } = partsOf(query)
  const { breakdown, steps } = query
  const slots = breakdown && keys.length > 0 ? slotsOf(breakdown, keys) : null
  const all = keys.length + 1
  const figures = steps.map((_, step) => {
    const isReached = `found.${REACHED} > ${step}`
    const duration = `${timeOf(`found.${TIMES}[${step + 1}]`)} - ${timeOf(`found.${TIMES}[${step}]`)}`
    const median = step === 0 ? 'NULL' : `quantileExactInclusiveOrNullIf(0.5)(${duration}, ${isReached})`
    return `(countIf(${isReached}), ${median})`
  })
  const rows = await query.asked.tenant.events.select<{ slot: number; figures: [number | string, number | null][] }>({
    name: 'insights.funnel',
    ...parts,
    parameters: { ...parts.parameters, ...(slots ? { ...breakdown?.parameters, ...slots.parameters } : {}) },
    ...columnsOf(
      attemptColumns(attempts),
      ...(slots ? [ofFirstEvent(attempts, EVENT_ID_ORDER, slots.sql, 'slots')] : []),
    ),
    outer: {
      columns: `${slots ? `arrayJoin(arrayPushBack(found.slots, ${all}))` : all} AS slot, [${figures.join(', ')}] AS figures`,
      where: `found.${REACHED} > 0`,
      groupBy: 'slot',
    },
  })
  const bySlot = new Map(rows.map(({ slot, figures: found }) => [Number(slot), found]))
  return [all, ...Array(all).keys()].map((slot) =>
    steps.map((_, step) => {
      const [count, median] = bySlot.get(slot)?.[step] ?? [0, null]
      return { count: Number(count), medianMs: median === null ? null : Number(median) }
    }),
  )
}
