import { NOBODY, SYSTEM_EVENTS } from '../journal/event-record.ts'
import { ownersOf } from '../owners/owners.ts'
import { containsFolded, containsVisible } from '../platform/clickhouse/folded-text.ts'
import { IS_IDENTIFIED } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EVENT_FILTERS, type EventFilter, type EventFilterName, type EventFilters } from './filters.ts'

const EARLIEST_MS = Date.UTC(1950, 0)
const LATEST_MS = Date.UTC(2250, 0)

type FilterValue = string | boolean | Date | readonly string[]

/** Filters by contact: PostgreSQL has the owners of their events. */
const CONTACT_FILTERS = ['contact_id', 'contact_ids', 'contacts_of_company'] as const

export interface EventConditions {
  where: string[]
  parameters: QueryParameters
}

/** Conditions in ClickHouse SQL with the values of their placeholders. */
export async function conditionsOf(tenant: Tenant, filters: EventFilters): Promise<EventConditions> {
  const { contact_id, contact_ids, contacts_of_company, ...others } = filters
  const { where, parameters } = eventConditions(others)
  for (const name of CONTACT_FILTERS) {
    const named = filters[name]
    if (named === undefined) continue
    const ids = [named].flat().filter(isContactId).map(lowered)
    const owners = await ownersOf(tenant, ids)
    where.push(owners.length > 0 ? isOwnedBy(name) : '0')
    if (owners.length > 0) parameters[name] = owners
  }
  return { where, parameters }
}

/** Conditions for filters that name no contacts. */
export function eventConditions(
  filters: Omit<EventFilters, (typeof CONTACT_FILTERS)[number]> & {
    [Name in (typeof CONTACT_FILTERS)[number]]?: never
  },
): EventConditions {
  const where: string[] = []
  const parameters: QueryParameters = {}
  // The table is sorted by is_system first: a condition on it lets the list be read in order.
  if (!filters.includeSystem && !namesSystemEvent(filters)) where.push('is_system = 0')
  if (filters.where) {
    where.push(filters.where.sql)
    Object.assign(parameters, filters.where.parameters)
  }
  for (const [name, filter] of Object.entries(EVENT_FILTERS)) {
    const value: FilterValue | undefined = filters[name as Exclude<EventFilterName, (typeof CONTACT_FILTERS)[number]>]
    if (value === undefined) continue
    const condition = conditionOf(name, filter, value, filters.visibleOnly ? containsVisible : containsFolded)
    where.push(...condition.where)
    Object.assign(parameters, condition.parameters)
  }
  return { where, parameters }
}

/** The same conditions with other names of placeholders, so that one query can have several such sets. */
export function withPrefix(prefix: string, { where, parameters }: EventConditions): EventConditions {
  const renamed = Object.entries(parameters).map(([name, value]) => [prefix + name, value])
  return {
    where: where.map((each) => each.replace(/\{(\w+):/g, (_match, name) => `{${prefix}${name}:`)),
    parameters: Object.fromEntries(renamed),
  }
}

/** The filters with an index. The table is sorted by time; any other filter scans every event. */
const INDEXED = [...CONTACT_FILTERS, 'visitor_id', 'session_id'] as const

/** Whether an index finds the matching events. */
export function isIndexed(filters: EventFilters): boolean {
  return INDEXED.some((name) => filters[name] !== undefined)
}

/** Whether finding matching events may read all events of the tenant. */
export function readsEverything(filters: EventFilters): boolean {
  if (isIndexed(filters)) return false
  const { contact_id, contact_ids, contacts_of_company, date_after, date_before, created_after, ...others } = filters
  // Events are sorted by the time they happened, so only that bounds what is read.
  if (created_after !== undefined && date_after === undefined) return true
  return eventConditions({ ...others, includeSystem: true }).where.length > 0
}

function namesSystemEvent({ event_type, event_types = [] }: EventFilters): boolean {
  return [event_type, ...event_types].some((name) => (SYSTEM_EVENTS as readonly unknown[]).includes(name))
}

const NOTHING: EventConditions = { where: ['0'], parameters: {} }
const ANYTHING: EventConditions = { where: [], parameters: {} }

/** The condition that a column contains a parameter, which has the given text. */
type Contains = (column: string, parameter: string, text: string) => string

function conditionOf(
  name: string,
  { comparison, columns }: EventFilter,
  value: FilterValue,
  contains: Contains,
): EventConditions {
  const [column = ''] = columns
  const text = String(value)
  const comparing = (condition: string, parameter: string | boolean | readonly string[]): EventConditions => ({
    where: [condition],
    parameters: { [name]: parameter },
  })
  switch (comparison) {
    case 'equals':
      return comparing(`${column} = {${name}: String}`, text)
    case 'equals_host':
      return comparing(`${column} = {${name}: String}`, text.toLowerCase())
    case 'is_one_of':
      return Array.isArray(value) && value.length > 0
        ? comparing(`${column} IN {${name}: Array(String)}`, value)
        : NOTHING
    case 'contains':
      return comparing(contains(column, name, text), text)
    case 'is_true':
      return comparing(`${column} = {${name}: Bool}`, value === true)
    case 'from':
      return comparing(`${column} >= ${timestampParameter(name)}`, storableTime(value as Date))
    case 'until':
      return comparing(`${column} <= ${timestampParameter(name)}`, storableTime(value as Date))
    case 'is_identified':
      return value === true ? { where: [IS_IDENTIFIED], parameters: {} } : ANYTHING
    case 'belongs_to':
      throw new Error('A filter by contact requires conditionsOf.')
    case 'has_words':
      return wordsCondition(name, columns, text, contains)
  }
}

/** A UUID may be in upper case; the databases return lower case. */
const lowered = (id: string) => id.toLowerCase()

/** Whether an id can be a contact's; `NOBODY` cannot. */
function isContactId(text: string): boolean {
  return isUuid(text) && text !== NOBODY
}

function wordsCondition(name: string, columns: readonly string[], text: string, contains: Contains): EventConditions {
  const words = wordsOf(text)
  return {
    where: words.map((word, index) => columns.map((column) => contains(column, `${name}_${index}`, word)).join(' OR ')),
    parameters: Object.fromEntries(words.map((word, index) => [`${name}_${index}`, word])),
  }
}

/** A bound beyond ClickHouse's range includes or excludes the same events as the furthest one within it. */
export function storableTime(time: Date): string {
  return new Date(Math.min(Math.max(time.getTime(), EARLIEST_MS), LATEST_MS)).toISOString()
}

/** A parameter with a time that `storableTime` wrote. */
export function timestampParameter(name: string): string {
  return `parseDateTime64BestEffort({${name}: String}, 3, 'UTC')`
}
