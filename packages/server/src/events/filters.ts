import Type, { type TSchema } from 'typebox'
import {
  EVENT_NAME_LENGTH_MAX,
  EVENT_TEXT_LENGTH_MAX,
  type EventRecord,
  NOBODY,
  SYSTEM_EVENTS,
} from '../journal/event-record.ts'
import { ownersOf } from '../owners/owners.ts'
import { containsFolded } from '../platform/clickhouse/folded-text.ts'
import { IS_IDENTIFIED } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { isOwnedBy } from '../platform/clickhouse/tenant-events.ts'
import { filterId, filterText, flag, searchText, timestampBound, wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { People } from './people.ts'

/** Event names per filter. */
const EVENT_TYPES_MAX = 100
/** The limit for aggregation in the interface specification. */
export const CONTACT_IDS_MAX = 100

/** How a filter compares a column with the caller's value. */
type Comparison =
  | 'equals'
  | 'equals_host'
  | 'is_one_of'
  | 'contains'
  | 'belongs_to'
  | 'is_true'
  | 'from'
  | 'until'
  | 'is_identified'
  | 'has_words'

interface EventFilter<Schema extends TSchema = TSchema> {
  /** The filter as a parameter of a request. */
  schema: Schema
  comparison: Comparison
  /** The columns that are compared. */
  columns: readonly (keyof EventRecord)[]
}

function define<const Schema extends TSchema>(
  schema: Schema,
  comparison: Comparison,
  ...columns: (keyof EventRecord)[]
): EventFilter<Schema> {
  return { schema, comparison, columns }
}

/**
 * Every filter of events, defined once: its request parameter, description and condition. Lists, statistics,
 * aggregation and activity each offer some of them.
 */
export const EVENT_FILTERS = {
  event_type: define(filterText('Exact event name.', EVENT_NAME_LENGTH_MAX), 'equals', 'event'),
  event_types: define(
    Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX }), {
        maxItems: EVENT_TYPES_MAX,
        description: 'One of these event names.',
      }),
    ),
    'is_one_of',
    'event',
  ),
  contact_id: define(filterId('Events of this contact.'), 'belongs_to', 'owner_id'),
  contact_ids: define(
    Type.Optional(
      Type.Array(Type.String(), { maxItems: CONTACT_IDS_MAX, description: 'Events of one of these contacts.' }),
    ),
    'belongs_to',
    'owner_id',
  ),
  company_id: define(
    filterId("Events of this company's contacts, of the newest 1,000 if it has more."),
    'belongs_to',
    'owner_id',
  ),
  visitor_id: define(filterId('Events of this visitor.'), 'equals', 'visitor_id'),
  session_id: define(filterId('Events of this session.'), 'equals', 'session_id'),
  analytics_user_id: define(
    filterText('Events with this exact user id of another analytics tool.'),
    'equals',
    'analytics_user_id',
  ),
  domain: define(filterText('Exact host of the URL.', 300), 'equals_host', 'domain'),
  url: define(filterText('Exact URL.', EVENT_TEXT_LENGTH_MAX), 'equals', 'url'),
  url_path: define(filterText('Exact path of the URL.', EVENT_TEXT_LENGTH_MAX), 'equals', 'url_path'),
  url_contains: define(filterText('Part of the URL, ignoring case.'), 'contains', 'url'),
  title: define(filterText('Exact page title.', EVENT_TEXT_LENGTH_MAX), 'equals', 'title'),
  title_contains: define(filterText('Part of the page title, ignoring case.'), 'contains', 'title'),
  text: define(filterText('Exact text of the element.', EVENT_TEXT_LENGTH_MAX), 'equals', 'text'),
  text_contains: define(filterText("Part of the element's text, ignoring case."), 'contains', 'text'),
  element_type: define(filterText('Exact type of the element, such as button.'), 'equals', 'element_type'),
  element_id: define(filterText('Exact id of the element.', EVENT_TEXT_LENGTH_MAX), 'equals', 'element_id'),
  class_contains: define(filterText("Part of the element's class, ignoring case."), 'contains', 'class'),
  referring_domain: define(
    filterText('Exact host of the referrer, without www.', 300),
    'equals_host',
    'referring_domain',
  ),
  device_type: define(filterText('Exact device type, such as desktop.'), 'equals', 'device_type'),
  browser: define(filterText('Exact browser name, such as Chrome.'), 'equals', 'browser'),
  os: define(filterText('Exact name of the operating system, such as macOS.'), 'equals', 'os'),
  is_bot: define(flag('Whether the sender identifies itself as a bot.'), 'is_true', 'is_bot'),
  origin_mismatch: define(
    flag("Whether the URL's host differs from the host of the page that sent the event."),
    'is_true',
    'origin_mismatch',
  ),
  identified_only: define(
    // Not `withDefault`, because aggregations have this filter in a body.
    Type.Optional(Type.Boolean({ description: 'Only events of a known contact.', default: false })),
    'is_identified',
    'owner_id',
  ),
  date_after: define(timestampBound('lower', 'At or after this time.'), 'from', 'timestamp'),
  date_before: define(timestampBound('upper', 'At or before this time.'), 'until', 'timestamp'),
  created_after: define(
    timestampBound('lower', 'Received by the service at or after this time, whenever it happened.'),
    'from',
    'received_at',
  ),
  search: define(
    searchText('Words that must all occur in the event name, URL or domain.'),
    'has_words',
    'event',
    'url',
    'domain',
  ),
} as const

export type EventFilterName = keyof typeof EVENT_FILTERS

/** Filters as they are sent. */
export type SentFilters = {
  [Name in EventFilterName]?: Type.Static<(typeof EVENT_FILTERS)[Name]['schema']>
} & {
  /** Whether to include system events. */
  includeSystem?: boolean
}

/** Filters of events; all must match. */
export type EventFilters = Omit<SentFilters, 'company_id'> & {
  /** `withCompany` replaces it with the company's contacts. */
  company_id?: never
  contacts_of_company?: readonly string[]
}

/** Limits the cost of querying their events. */
const COMPANY_CONTACTS_MAX = 1_000

/** Sent filters with `company_id` replaced by the company's newest 1,000 contacts. */
export async function withCompany(
  tenant: Tenant,
  people: Pick<People, 'newestOfCompany'>,
  { company_id, ...filters }: SentFilters,
): Promise<EventFilters> {
  if (company_id === undefined) return filters
  const contacts = isUuid(company_id) ? await people.newestOfCompany(tenant, company_id, COMPANY_CONTACTS_MAX) : []
  return { ...filters, contacts_of_company: contacts }
}

const NAMES = Object.keys(EVENT_FILTERS) as EventFilterName[]

/** The schemas of all filters but some. */
export function eventFilterSchemasExcept<const Name extends EventFilterName>(...names: Name[]) {
  const others = NAMES.filter((name): name is Exclude<EventFilterName, Name> => !(names as string[]).includes(name))
  return eventFilterSchemas(...others)
}

/** The schemas of some filters, as properties of a request. */
export function eventFilterSchemas<const Name extends EventFilterName>(...names: Name[]) {
  const entries = names.map((name) => [name, EVENT_FILTERS[name].schema])
  return Object.fromEntries(entries) as { [Each in Name]: (typeof EVENT_FILTERS)[Each]['schema'] }
}

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
  for (const [name, filter] of Object.entries(EVENT_FILTERS)) {
    const value: FilterValue | undefined = filters[name as Exclude<EventFilterName, (typeof CONTACT_FILTERS)[number]>]
    if (value === undefined) continue
    const condition = conditionOf(name, filter, value)
    where.push(...condition.where)
    Object.assign(parameters, condition.parameters)
  }
  return { where, parameters }
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

function conditionOf(name: string, { comparison, columns }: EventFilter, value: FilterValue): EventConditions {
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
      return comparing(containsFolded(column, name), text)
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
      return wordsCondition(name, columns, text)
  }
}

/** A UUID may be in upper case; the databases return lower case. */
const lowered = (id: string) => id.toLowerCase()

/** Whether an id can be a contact's; `NOBODY` cannot. */
function isContactId(text: string): boolean {
  return isUuid(text) && text !== NOBODY
}

function wordsCondition(name: string, columns: readonly string[], text: string): EventConditions {
  const words = wordsOf(text)
  return {
    where: words.map((_, index) => columns.map((column) => containsFolded(column, `${name}_${index}`)).join(' OR ')),
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
