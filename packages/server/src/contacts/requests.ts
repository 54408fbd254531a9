import Type from 'typebox'
import { EVENT_NAME_LENGTH_MAX } from '../journal/event-record.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { emailInput, idInput } from '../platform/http/inputs.ts'
import { pageParameters } from '../platform/http/pagination.ts'
import {
  filterId,
  filterJson,
  filterText,
  flag,
  idList,
  oneOf,
  searchText,
  timestampBound,
  wordList,
} from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import { type IgnoredIds, ignoredId, namesNobody } from '../platform/ids-of-nobody.ts'
import { sortProperty } from './computed-names.ts'
import { CONTACT_FACET_FILTERS } from './facets.ts'
import { checkProperties, PropertiesInput, type PropertyChanges } from './properties.ts'
import type { ContactUpdate, NewContact } from './write.ts'

const VisitorId = idInput()
/** `visitor_id` of a request: one or several. */
export const VisitorIds = Type.Optional(
  Type.Union([VisitorId, Type.Array(VisitorId, { maxItems: 100 })], {
    description: 'Visitor id or ids from the tracker: their events belong to this contact.',
    'x-expected': 'a visitor id of 1 to 200 characters, or a list of at most 100 of them',
  }),
)

/** Fields of POST /v1/contacts. */
export const NEW_CONTACT_FIELDS = {
  email: emailInput({ examples: ['ada@example.com'] }),
  properties: Type.Optional(PropertiesInput),
  visitor_id: VisitorIds,
  company_id: Type.Optional(idInput()),
}

/** Fields of PUT /v1/contacts/:contact_id. */
export const CONTACT_FIELDS = {
  properties: Type.Optional(PropertiesInput),
  visitor_id: VisitorIds,
  company_id: Type.Optional(
    Type.Union([idInput(), Type.Null()], {
      description: 'Company to associate; null for none.',
      'x-expected': 'the id of a company, or null',
    }),
  ),
}

type Sent<Fields extends Type.TProperties> = Type.Static<Type.TObject<Fields>>

/** Query of GET /v1/contacts. */
export const ListContactsQuery = Type.Object({
  ...pageParameters(20, 100),
  status: oneOf(['enriched', 'not_enriched'], 'Whether an enrichment source has written to the contact.'),
  ...CONTACT_FACET_FILTERS,
  job_title: filterText('Part of the job title, ignoring case.'),
  has_linkedin: flag('Contacts with or without a social-network profile.'),
  has_social_profile: flag('The same as has_linkedin.'),
  company_id: filterId('Associated company.'),
  created_after: timestampBound('lower', 'Created at or after this time.'),
  created_before: timestampBound('upper', 'Created at or before this time.'),
  search: searchText('Words that must all occur in the name, email, company or job title.'),
  contact_ids: idList('Only contacts with one of these ids.'),
  segment_id: filterId('Members of this segment.'),
  import_id: filterId('Contacts that this import created or updated.'),
  filter: filterJson('With event conditions, it needs the scope `events:read`.'),
  has_event_type: filterText('Contacts with a tracked event of this type.', EVENT_NAME_LENGTH_MAX),
  has_event_text: filterText('Contacts with an event whose element text equals this.'),
  has_event_text_contains: filterText('Contacts with an event whose element text contains this, ignoring case.'),
  has_event_url_contains: filterText('Contacts with an event whose URL contains this, ignoring case.'),
  has_event_class_contains: filterText(
    "Contacts with an event whose element's CSS class contains this, ignoring case.",
  ),
  has_event_element_id: filterText('Contacts with an event on the element with this id.'),
  has_event_after: timestampBound('lower', 'The matching event happened at or after this time.'),
  has_event_before: timestampBound('upper', 'The matching event happened at or before this time.'),
  sort_by: oneOf(['email', 'firstname', 'lastname', 'company', 'createdate'], 'The field to sort by.', 'createdate'),
  sort_property: sortProperty('contacts'),
  sort_dir: oneOf(['asc', 'desc'], 'Sort direction; missing values come last in both directions.', 'desc'),
  count_only: flag('Return only the number of results.', false),
  fields: filterText('summary, full, or a comma-separated list of field names and property keys.', 5_000),
  include: wordList(['provenance', 'scores'], 'What to add.'),
})

const EVENTS_LIMIT = { default: 20, max: 50 }

/** Parameters of GET /v1/contacts/:contact_id. */
export const READ_CONTACT_PARAMETERS = {
  include_events: flag('Whether to include the latest events.', true),
  // Validated by the operation, because it is ignored with include_events=false.
  events_limit: Type.Optional(
    Type.String({
      description: `Number of events, 1 to ${EVENTS_LIMIT.max}. Default ${EVENTS_LIMIT.default}.`,
      examples: ['5'],
    }),
  ),
  include: wordList(['provenance', 'raw', 'scores'], 'What to add.'),
}

/** The `events_limit` of a read; null for no events. @throws ServiceError 400. */
export function parseEventsLimit(wanted: boolean, text: string | undefined): number | null {
  if (!wanted) return null
  if (text === undefined) return EVENTS_LIMIT.default
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > EVENTS_LIMIT.max) {
    throw validationError([{ path: 'events_limit', message: `must be a whole number from 1 to ${EVENTS_LIMIT.max}` }])
  }
  return limit
}

/**
 * Validates what a schema cannot. @returns the contact to create. @throws ServiceError 400 naming every invalid field.
 */
export function parseCreateContact(body: Sent<typeof NEW_CONTACT_FIELDS>): NewContact {
  const details: ErrorDetail[] = []
  const email = parseEmail(body.email)
  if (email === null) details.push({ path: 'email', message: 'is not a valid email address' })
  const { email: sameEmail, ...properties } = body.properties ?? {}
  if (sameEmail !== undefined && (typeof sameEmail !== 'string' || parseEmail(sameEmail) !== email)) {
    details.push({ path: 'properties.email', message: 'must equal email, or be omitted' })
  }
  details.push(...checkProperties(properties), ...checkCompanyId(body.company_id))
  if (email === null || details.length > 0) throw validationError(details)
  return {
    email,
    properties,
    visitorIds: visitorIdsOf(body.visitor_id),
    companyId: body.company_id ?? null,
  }
}

/**
 * Validates what a schema cannot.
 * @returns the changes of a contact.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseUpdateContact(body: Sent<typeof CONTACT_FIELDS>): ContactUpdate {
  const { email: sentEmail, ...properties } = body.properties ?? {}
  const details = [...checkProperties(properties), ...checkCompanyId(body.company_id ?? undefined)]
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== undefined && email === null) {
    details.push({ path: 'properties.email', message: 'must be a valid email address; it cannot be removed' })
  }
  if (details.length > 0) throw validationError(details)
  return {
    ...(email === null ? {} : { email }),
    properties: properties as PropertyChanges,
    visitorIds: visitorIdsOf(body.visitor_id),
    ...(body.company_id === undefined ? {} : { companyId: body.company_id }),
  }
}

/** The visitors of a request. */
export function visitorIdsOf(sent: string | string[] = []): string[] {
  return [sent].flat()
}

/** The visitors of a request without ids that name nobody. */
export function namedVisitors(
  visitorIds: readonly string[],
  ignored: IgnoredIds,
  warn: (text: string) => void,
): string[] {
  const nobody = new Set(visitorIds.filter((id) => namesNobody(id, ignored)))
  for (const id of nobody) warn(ignoredId('visitor_id', id))
  return visitorIds.filter((id) => !nobody.has(id))
}

function checkCompanyId(companyId: string | undefined): ErrorDetail[] {
  return companyId === undefined || isUuid(companyId)
    ? []
    : [{ path: 'company_id', message: 'is not the id of one of your companies' }]
}
