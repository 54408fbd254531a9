import Type, { type TSchema } from 'typebox'
import type { Sql } from '../conditions/event-property.ts'
import { EVENT_NAME_LENGTH_MAX, EVENT_TEXT_LENGTH_MAX, type EventRecord } from '../journal/event-record.ts'
import { filterId, filterText, flag, searchText, timestampBound } from '../platform/http/query-parameters.ts'
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

export interface EventFilter<Schema extends TSchema = TSchema> {
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
  utm_source: define(filterText('Exact utm_source of the URL.'), 'equals', 'utm_source'),
  utm_medium: define(filterText('Exact utm_medium of the URL.'), 'equals', 'utm_medium'),
  utm_campaign: define(filterText('Exact utm_campaign of the URL.'), 'equals', 'utm_campaign'),
  utm_term: define(filterText('Exact utm_term of the URL.'), 'equals', 'utm_term'),
  utm_content: define(filterText('Exact utm_content of the URL.'), 'equals', 'utm_content'),
  country: define(filterText('Exact country of the sender, such as DE.'), 'equals', 'country'),
  region: define(filterText('Exact region of the sender.'), 'equals', 'region'),
  city: define(filterText('Exact city of the sender.'), 'equals', 'city'),
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
  /** Whether texts are compared as AI agents see them, by whole words: personal values are hidden from the caller. */
  visibleOnly?: boolean
  /** Further conditions on the event, compiled. */
  where?: Sql
}

/** Filters of events; all must match. */
export type EventFilters = Omit<SentFilters, 'company_id'> & {
  /** `withCompany` replaces it with the company's contacts. */
  company_id?: never
  contacts_of_company?: readonly string[]
}

/**
 * Compiles conditions on events, which may be about their contacts: features know events, not the other way round.
 * @param sent a list of conditions in `where`, or a `filter`, as a value or as JSON; `path` is where they are in the request
 * @throws ServiceError 400 naming every invalid field; 403.
 */
export type CompileEventFilter = (
  tenant: Tenant,
  sent: { where?: unknown; filter?: unknown; path?: string },
  context: { now: Date; requireScope(scope: 'contacts:read'): void; visibleOnly: boolean },
) => Promise<Sql>

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
