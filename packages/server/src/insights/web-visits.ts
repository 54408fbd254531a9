import type { Sql } from '../conditions/event-property.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { CONTACT_OF_EVENT, NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import type { Intervals } from './intervals.ts'
import { type Asked, inRange, PERSON } from './question.ts'
import type { Range } from './range.ts'

/** The lists of web analytics, with the columns that have their values. */
export const COLUMN_OF_LIST = {
  source: 'referring_domain',
  utm_source: 'utm_source',
  utm_medium: 'utm_medium',
  utm_campaign: 'utm_campaign',
  utm_content: 'utm_content',
  utm_term: 'utm_term',
  page: 'url_path',
  entry_page: 'url_path',
  exit_page: 'url_path',
  country: 'country',
  region: 'region',
  city: 'city',
  browser: 'browser',
  os: 'os',
  device_type: 'device_type',
} as const satisfies Record<string, keyof EventRecord>
export type WebList = keyof typeof COLUMN_OF_LIST
export const WEB_LISTS = Object.keys(COLUMN_OF_LIST) as WebList[]

/** A row of a list: the visits that have this value; null is none. */
export interface RowName {
  list: WebList
  value: string | null
}

/** A question about visits in one range. */
export interface WebQuery {
  asked: Asked
  range: Range
  intervals: Intervals
  /** Visits count only if these rows of lists count them. */
  only: readonly RowName[]
  goals: readonly Sql[]
}

const IS_VIEW = "event = 'page_view'"
/** Somebody leaves a page after reading it, so that the time on the last one is known. */
const IS_VIEW_OR_LEFT = "is_system = 0 AND event IN ('page_view', 'page_leave')"
/** Page views by time, and those of one time by their ids. A number, because tuples take three times as long. */
const MOMENT = `bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 86) + bitShiftRight(${EVENT_ID_ORDER}, 42)`

/** Between the values of a visit's first page view: texts that the service receives cannot contain it. */
const SEPARATOR = '\\0'

/** Whether the values of a list are those of the first page view. */
function isOfEntry(list: WebList): boolean {
  return list !== 'page' && list !== 'exit_page'
}

/** The letter of a list, with which its values begin where those of several lists are together. */
export function letterOf(list: WebList): string {
  return String.fromCharCode('a'.charCodeAt(0) + WEB_LISTS.indexOf(list))
}

/** The value of a list in the rows of visits; of pages, a list of them. */
export function ofList(list: WebList): string {
  return `of_${list}`
}

/** The condition that a list counts a visit for the value in a parameter. */
export function hasValue(list: WebList, parameter: string): string {
  return list === 'page' ? `has(${ofList(list)}, {${parameter}: String})` : `${ofList(list)} = {${parameter}: String}`
}

/** In the rows of visits: the values of the lists that are those of the first page view, each with the letter of its list. */
export const ENTRY_VALUES = 'entry_values'

/** The columns of visits for some lists, and what is derived from them. */
function columnsOf(lists: readonly WebList[]): { columns: string[]; derived: string[] } {
  const columns = [
    // Page views outside of visits are one row, whose pages could be all of the tenant's.
    ...(lists.includes('page') ? [`groupArrayIf(url_path, ${IS_VIEW} AND session_id != '') AS ${ofList('page')}`] : []),
    ...(lists.includes('exit_page') ? [`argMaxIf(url_path, ${MOMENT}, ${IS_VIEW}) AS ${ofList('exit_page')}`] : []),
  ]
  const ofEntry = lists.filter(isOfEntry)
  if (ofEntry.length === 0) return { columns, derived: [`[]::Array(String) AS ${ENTRY_VALUES}`] }
  // One text with all values: finding the first page view for each of them takes half as long again.
  const texts = ofEntry.map(
    (list, index) => `'${index === 0 ? '' : SEPARATOR}${letterOf(list)}', toString(${COLUMN_OF_LIST[list]})`,
  )
  return {
    columns: [...columns, `argMinIf(concat(${texts.join(', ')}), ${MOMENT}, ${IS_VIEW}) AS entry`],
    derived: [
      `splitByChar('${SEPARATOR}', entry) AS ${ENTRY_VALUES}`,
      ofEntry.map((list, index) => `substring(${ENTRY_VALUES}[${index + 1}], 2) AS ${ofList(list)}`).join(', '),
    ],
  }
}

/** The condition that a row of `visitsOf` is a visit that counts. */
export function isCounted({ only }: WebQuery): string {
  return ['is_visit AND views > 0', ...only.map(({ list }, index) => hasValue(list, `only_${index}`))].join(' AND ')
}

export const IS_SOMEBODY = `person != ${NOBODY}`

interface Visits {
  /** Of which lists the values are needed. */
  lists?: readonly WebList[]
  /** Whether the goals are counted, which may be reached outside of visits. */
  withGoals?: boolean
}

/**
 * Visits, in a query over events: what one person did in one session. Page views without a session are one more row, which is
 * no visit; with goals, there is such a row for each person.
 */
export function visitsOf(query: WebQuery, { lists = [], withGoals = false }: Visits): EventSelect {
  const { asked, range, only } = query
  const goals = withGoals ? query.goals : []
  const inTime = inRange(range)
  const needed = WEB_LISTS.filter((list) => lists.includes(list) || only.some((row) => row.list === list))
  const { columns, derived } = columnsOf(needed)
  const counted = [IS_VIEW_OR_LEFT, ...goals.map(({ sql }) => sql)]
  const values: QueryParameters = Object.fromEntries(only.map(({ value }, index) => [`only_${index}`, value ?? '']))
  return {
    name: 'insights.web',
    lane: 'heavy',
    withContacts: true,
    columns: [
      `${withGoals ? VISIT : `if(session_id = '', 0, ${VISIT})`} AS visit`,
      "any(session_id != '') AS is_visit",
      `any(${PERSON}) AS person`,
      `any(${CONTACT_OF_EVENT} != ${NOBODY}) AS is_contact`,
      `countIf(${IS_VIEW}) AS views`,
      `minIf(timestamp, ${IS_VIEW}) AS began`,
      `${goals.length === 0 ? 'max(timestamp)' : `maxIf(timestamp, ${IS_VIEW_OR_LEFT})`} AS ended`,
      ...columns,
      ...goals.map(({ sql }, index) => `countIf(${sql}) AS goal_${index}`),
    ].join(', '),
    where: [...inTime.where, ...asked.where, counted.map((each) => `(${each})`).join(' OR ')],
    parameters: Object.assign(
      { ...asked.parameters, ...inTime.parameters, ...values },
      ...goals.map(({ parameters }) => parameters),
    ),
    groupBy: 'visit',
    // What says in which interval an event is says it of the visit.
    derived: ['began AS timestamp', ...derived],
  }
}

/** A number, because grouping by a text and an id takes half as long again. */
const VISIT = `cityHash64(session_id, ${PERSON})`
