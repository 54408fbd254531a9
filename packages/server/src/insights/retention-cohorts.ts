import type { Sql } from '../conditions/event-property.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import type { Intervals } from './intervals.ts'
import { type Asked, IS_OF_SOMEBODY, inRange } from './question.ts'
import type { Range } from './range.ts'

/** `on`: in exactly that interval; `on_or_after`: in it or later, up to now. */
export const RETENTION_MODES = ['on', 'on_or_after'] as const
export type RetentionMode = (typeof RETENTION_MODES)[number]

/** A retention question in one range. */
export interface RetentionQuery {
  asked: Asked
  range: Range
  /** Those of the range, and `further` ones. */
  intervals: Intervals
  /** Which events begin, and whether a person's first one of all must be in the range: then `where` says nothing of it. */
  start: Sql & { isFirstOfAll: boolean }
  comeback: Sql
  /** How many intervals after its own a cohort is followed. */
  further: number
  mode: RetentionMode
}

/** A person of a number, and whether that is a contact or an anonymous visitor. */
export interface PersonRow {
  person: string
  is_contact: boolean | number
}

/** A cohort's size, and how many came back in each interval after its own. */
export interface CohortFigures {
  size: number
  returned: number[]
}

/** Stands for no interval: the person did not start in the range. */
const NEVER = 1_000_000

/** How it is remembered of an owner, and of a person with several, when they came back. */
interface Comebacks {
  ofEvents(index: string, isBack: string): string
  ofOwners(column: string): string
  /** Whether somebody came back in an interval or, for `on_or_after`, in it or later. */
  cameBack(interval: string): string
}

/** The last interval. */
const LAST: Comebacks = {
  ofEvents: (index, isBack) => `maxIf(${index}, ${isBack})`,
  ofOwners: (column) => `max(${column})`,
  cameBack: (interval) => `returned >= ${interval}`,
}

/** As many intervals fit into a number, which takes half the time of a list. */
const BITS = 64
const EACH_AS_BIT: Comebacks = {
  ofEvents: (index, isBack) => `groupBitOrIf(bitShiftLeft(toUInt64(1), bitAnd(${index}, ${BITS - 1})), ${isBack})`,
  ofOwners: (column) => `groupBitOr(${column})`,
  cameBack: (interval) => `bitTest(returned, ${interval})`,
}

const EACH_IN_LIST: Comebacks = {
  ofEvents: (index, isBack) => `groupUniqArrayIf(${index}, ${isBack})`,
  ofOwners: (column) => `groupUniqArrayArray(${column})`,
  cameBack: (interval) => `has(returned, ${interval})`,
}

function comebacksOf({ mode, intervals, further }: RetentionQuery): Comebacks {
  if (mode === 'on_or_after') return LAST
  return intervals.keys.length + further <= BITS ? EACH_AS_BIT : EACH_IN_LIST
}

/** A query over people, each of whom has a `cohort`, the interval of the first start in the range, and `returned`. */
function overPeople(query: RetentionQuery, selection: NonNullable<EventSelect['outer']>): EventSelect {
  const { asked, range, intervals, start, comeback, mode } = query
  const { where, always, now, parameters } = asked
  const at = (name: string) => `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`
  const index = `toInt32(${intervals.indexInSql})`
  const inTime = [...where.filter((each) => !always.includes(each)), `timestamp >= ${at('range_from')}`]
  // What holds for all events that are read is not asked again of each.
  const isCounted = [...(start.isFirstOfAll ? inTime : []), comeback.sql]
  if (mode === 'on_or_after') isCounted.push(`timestamp <= ${at('now')}`)
  const isBack = isCounted.map((each) => `(${each})`).join(' AND ')
  const started = start.isFirstOfAll
    ? `multiIf(NOT ${start.sql}, ${NEVER}, timestamp < ${at('range_from')}, -1, timestamp <= ${at('range_until')}, ${index}, ${NEVER})`
    : `if(${start.sql} AND timestamp <= ${at('range_until')}, ${index}, ${NEVER})`
  const end = mode === 'on' ? (intervals.starts.at(-1) ?? 0) - 1 : now.getTime()
  const comebacks = comebacksOf(query)
  return {
    name: 'insights.retention',
    lane: 'heavy',
    isPerPerson: true,
    columns: `min(${started}) AS first_start, ${comebacks.ofEvents(index, isBack)} AS comebacks`,
    where: [
      IS_OF_SOMEBODY,
      `timestamp <= ${at('read_until')}`,
      ...always,
      ...(start.isFirstOfAll ? [] : inTime),
      `${start.sql} OR ${comeback.sql}`,
    ],
    parameters: {
      ...{ ...parameters, ...start.parameters, ...comeback.parameters, ...inRange(range).parameters },
      ...{ read_until: Math.max(end, range.untilMs), now: now.getTime() },
    },
    outer: {
      columns: `person, any(is_contact) AS is_contact, min(first_start) AS cohort, ${comebacks.ofOwners('comebacks')} AS returned`,
      groupBy: 'person',
      outer: selection,
    },
  }
}

/** The figures of the cohorts that anybody is in, by the index of their intervals. */
export async function readCohorts(query: RetentionQuery): Promise<Map<number, CohortFigures>> {
  const { asked, intervals, further } = query
  const isBack = comebacksOf(query).cameBack('cohort + after')
  const selection = overPeople(query, {
    // Many people are alike in both, so one list serves all of them: a twentieth less processor time.
    columns: 'cohort, returned, count() AS people',
    where: `cohort >= 0 AND cohort < ${intervals.keys.length}`,
    groupBy: 'cohort, returned',
    outer: {
      columns: `cohort, sum(people) AS size,
        sumForEach(arrayMap(after -> people * toUInt32(${isBack}), range(1, ${further + 1}))) AS returned`,
      groupBy: 'cohort',
    },
  })
  const rows = await asked.tenant.events.select<{ cohort: number; size: number; returned: number[] }>(selection)
  return new Map(
    rows.map(({ cohort, size, returned }) => [
      Number(cohort),
      { size: Number(size), returned: returned.map((each) => Number(each)) },
    ]),
  )
}

/** The rows of a cohort's people or, with `after`, of those who came back in the interval so many after it. */
export function peopleOfCohort(query: RetentionQuery, cohort: number, after: number | null): EventSelect {
  const isMeant = after === null ? '' : ` AND ${comebacksOf(query).cameBack(String(Math.trunc(cohort + after)))}`
  return overPeople(query, {
    columns: 'toString(person) AS person, is_contact',
    where: `cohort = ${Math.trunc(cohort)}${isMeant}`,
  })
}
