import type { TSchema } from 'typebox'
import Type from 'typebox'
import { COMPANY_DIMENSIONS } from '../companies/dimensions.ts'
import type { CompanyFilters } from '../companies/list.ts'
import { ListCompaniesQuery } from '../companies/requests.ts'
import { PATH_KEYS_MAX } from '../conditions/event-property.ts'
import { CONTACT_DIMENSIONS } from '../contacts/dimensions.ts'
import { COMPANY_FACET_FILTERS, CONTACT_FACET_FILTERS } from '../contacts/facets.ts'
import type { ContactFilters } from '../contacts/list.ts'
import { ListContactsQuery } from '../contacts/requests.ts'
import { CONTACT_IDS_MAX, type EventFilters, eventFilterSchemasExcept } from '../events/filters.ts'
import { includeSystemInBody } from '../events/requests.ts'
import { pathOfField } from '../figures/event-figures.ts'
import { METRICS, type Measure, type Metric, needsNumbers, RECORD_METRICS } from '../figures/measure.ts'
import type { RecordGrouping } from '../figures/values-of-records.ts'
import { QUESTION_FIELDS } from '../insights/question.ts'
import { EVENT_AHEAD_MS_MAX, EVENT_EARLIEST_MS } from '../journal/event-record.ts'
import type { Scope } from '../operations/scopes.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { filterId, filterText } from '../platform/http/query-parameters.ts'
import { isObject } from '../platform/is-object.ts'
import { DAY_MS } from '../platform/time.ts'
import { canonicalZone, problemsOfZone, ZONE_LENGTH_MAX } from '../platform/time-zone.ts'
import { groupBySchema, PROPERTY_NAME_LENGTH_MAX } from './dimension.ts'
import { EVENT_DIMENSIONS } from './event-dimensions.ts'
import { groupingNamed, type NamedGrouping } from './event-groupings.ts'

const ofContacts = ListContactsQuery.properties
const ofCompanies = ListCompaniesQuery.properties

const CONTACT_FILTERS = asBodyFields({
  company: filterText('Exact value of the property company.'),
  ...CONTACT_FACET_FILTERS,
  job_title: ofContacts.job_title,
  created_after: ofContacts.created_after,
  created_before: ofContacts.created_before,
  contact_ids: Type.Optional(
    Type.Array(Type.String(), { maxItems: CONTACT_IDS_MAX, description: 'Only these contacts.' }),
  ),
  segment_id: filterId('Contacts in this segment; 409 segment_counting while they are being counted.'),
})

const COMPANY_FILTERS = asBodyFields({
  name: ofCompanies.name,
  domain: ofCompanies.domain,
  ...COMPANY_FACET_FILTERS,
  min_employees: ofCompanies.min_employees,
  max_employees: ofCompanies.max_employees,
})

const EVENT_FILTERS = asBodyFields(eventFilterSchemasExcept('company_id', 'created_after', 'search'))

function metricSchema<const Each extends Metric>(metrics: readonly Each[]) {
  const unique = metrics.some((metric) => metric.startsWith('unique_'))
  return Type.Optional(
    Type.Unsafe<Each>({
      type: 'string',
      enum: metrics,
      default: 'count',
      description: `The figure of each bucket: the number of records, or one computed from the numbers in metric_field, exact to 15 significant digits. median and p90 interpolate between two values.${unique ? UNIQUE : ''}`,
    }),
  )
}

const UNIQUE =
  ' unique_contacts, unique_visitors and unique_sessions count different ones; unique_people counts contacts, across their devices and their anonymous past, and visitors that belong to none.'

const FIELDS = {
  metric_field: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PROPERTY_NAME_LENGTH_MAX,
      description:
        'Required for avg, sum, min, max, median and p90: a property or, for events, `data.<path>` or a key of data. Numbers count, and texts of numbers such as "12"; of a list in data, each item. A bucket without any has the value null.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 25, description: 'Maximum number of buckets.' }),
  ),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ZONE_LENGTH_MAX,
      examples: ['Europe/Berlin'],
      description:
        "IANA time zone of hours, days, weeks and months, and of dates without a time in filters. Default: the workspace's.",
    }),
  ),
}

function aggregation<
  const Entity extends string,
  const Filters extends Record<string, TSchema>,
  const More extends Record<string, TSchema>,
>(entity: Entity, groupBy: Type.TString, metrics: readonly Metric[], filters: Filters, more: More) {
  const names = Object.keys(filters).join(', ')
  return Type.Object(
    {
      entity: Type.Literal(entity),
      group_by: groupBy,
      filters: Type.Optional(
        Type.Object(filters, {
          additionalProperties: false,
          description: `Filters of ${entity}; all must match.`,
          'x-unknown': `is not a filter of ${entity}; use one of ${names}`,
        }),
      ),
      where: Type.Optional(
        Type.Array(Type.Unknown(), { description: `Conditions on ${entity}, as those of filters; all must be true.` }),
      ),
      metric: metricSchema(metrics),
      ...FIELDS,
      ...more,
    },
    { title: `AggregationOf${entity[0]?.toUpperCase()}${entity.slice(1)}`, additionalProperties: false },
  )
}

const MISSING = 'One that nothing has gives a single bucket with the key null, and a warning.'
const Contacts = aggregation(
  'contacts',
  groupBySchema(
    CONTACT_DIMENSIONS,
    `Any other name is a property, or \`company.<key>\` for one of the company. \`properties.<key>\` is a property whatever its name. ${MISSING}`,
  ),
  RECORD_METRICS,
  CONTACT_FILTERS,
  {},
)
const Companies = aggregation(
  'companies',
  groupBySchema(
    COMPANY_DIMENSIONS,
    `Any other name is a property. \`properties.<key>\` is a property whatever its name. ${MISSING}`,
  ),
  RECORD_METRICS,
  COMPANY_FILTERS,
  {},
)
const Events = aggregation(
  'events',
  groupBySchema(
    EVENT_DIMENSIONS,
    `Other fields of events; \`data.<path>\` for a value in data, where dots go into objects and \`\\.\` is a dot in a key; \`contact.<key>\` and \`company.<key>\` for what the event's contact and its company are now. ${MISSING}`,
  ),
  METRICS,
  EVENT_FILTERS,
  { include: includeSystemInBody, people: QUESTION_FIELDS.people },
)

/** Body of POST /v1/aggregate. */
export const AggregateBody = Type.Union([Contacts, Companies, Events])
type AggregationBody = Type.Static<typeof AggregateBody>

const ENTITIES = {
  contacts: { scope: 'contacts:read', check: compileBodyCheck(Contacts) },
  companies: { scope: 'companies:read', check: compileBodyCheck(Companies) },
  events: { scope: 'events:read', check: compileBodyCheck(Events) },
} as const satisfies Record<string, { scope: Scope; check(body: unknown): ErrorDetail[] }>

/**
 * The fields for all entities, which become the command's options. `checkAggregation` validates those of one entity.
 */
export const AGGREGATE_FIELDS = {
  entity: Type.Unsafe<keyof typeof ENTITIES>({ type: 'string', enum: Object.keys(ENTITIES) }),
  group_by: Type.String({ description: 'A dimension or a property of the entity.' }),
  filters: Type.Optional(Type.Object({}, { description: 'Filters of the entity; all must match.' })),
  where: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'Conditions on the records, as those of filters; all must be true.' }),
  ),
  people: QUESTION_FIELDS.people,
  metric: metricSchema(METRICS),
  ...FIELDS,
  include: includeSystemInBody,
}

/** The scope that a request needs, which depends on its entity. @throws ServiceError 400. */
export function scopeOfBody(body: unknown): Scope {
  return ENTITIES[entityOf(body)].scope
}

/** Values of other records than the entity's, which a key that reads the entity may not read. */
export const SCOPES_OF_OTHERS = [
  {
    scopes: ['contacts:read'] as const,
    when: 'to group events by `contact.<key>`, and for `people`',
    ofSent: (body: unknown) => names(body, 'events', /^contact\./) || (isObject(body) && 'people' in body),
  },
  {
    scopes: ['companies:read'] as const,
    when: 'for `company.<key>` of events or contacts',
    ofSent: (body: unknown) => names(body, 'events', /^(contact\.)?company\./) || names(body, 'contacts', /^company\./),
  },
]

/** Whether a body, which may be invalid, groups by such a name or uses its numbers. */
function names(body: unknown, entity: string, pattern: RegExp): boolean {
  if (!isObject(body)) return false
  const sent: { entity?: unknown; group_by?: unknown; metric_field?: unknown } = body
  return sent.entity === entity && [sent.group_by, sent.metric_field].some((name) => pattern.test(String(name)))
}

/**
 * Validates a body for its entity only, because errors of a union would name all three entities.
 * @throws ServiceError 400 naming every invalid field.
 */
export function checkAggregation(body: object): AggregationBody {
  const details = ENTITIES[entityOf(body)].check(body)
  if (details.length > 0) throw validationError(details)
  return body as AggregationBody
}

function entityOf(body: unknown): keyof typeof ENTITIES {
  if (!isObject(body)) {
    throw validationError([{ path: '', message: 'is required: send a JSON object' }])
  }
  const { entity } = body as { entity?: unknown }
  if (typeof entity === 'string' && Object.hasOwn(ENTITIES, entity)) return entity as keyof typeof ENTITIES
  const message = `must be one of ${Object.keys(ENTITIES).join(', ')}`
  throw validationError([{ path: 'entity', message: entity === undefined ? `is required and ${message}` : message }])
}

/** A parsed request, with dates instead of timestamps. */
export type Aggregation = { measure: Measure; limit: number } & (
  | { entity: 'contacts'; grouping: RecordGrouping; filters: ContactFilters & { segment_id?: string } }
  | { entity: 'companies'; grouping: RecordGrouping; filters: CompanyFilters }
  | { entity: 'events'; grouping: NamedGrouping; filters: EventFilters }
)

/** Validates what the schemas cannot. @throws ServiceError 400 naming every invalid field. */
export function parseAggregation(body: AggregationBody, zone: string, now: Date): Aggregation {
  const { entity, metric = 'count', metric_field: field, limit = 25 } = body
  const details: ErrorDetail[] = []
  if (needsNumbers(metric) && field === undefined) {
    details.push({ path: 'metric_field', message: `is required for the metric ${metric}` })
  }
  const wrongZone = problemsOfZone('time_zone', zone)
  const timeZone = wrongZone.length > 0 ? 'UTC' : canonicalZone(zone)
  const fields = { contacts: CONTACT_FILTERS, companies: COMPANY_FILTERS, events: EVENT_FILTERS }[entity]
  const { values, details: wrongBounds } = parseBounds(fields, body.filters ?? {}, 'filters.', timeZone)
  details.push(...wrongZone, ...wrongBounds)
  const common = { measure: { metric, field: field ?? '' }, limit }
  if (entity !== 'events') {
    if (details.length > 0) throw validationError(details)
    return { ...common, entity, grouping: { entity, name: body.group_by, timeZone }, filters: values } as Aggregation
  }
  const grouping = groupingNamed(body.group_by, { timeZone, ...spanOf(values as EventFilters, now) })
  details.push(...problemsOfMeasure(common.measure, grouping))
  if (details.length > 0) throw validationError(details)
  const includeSystem = body.include === 'system' ? { includeSystem: true } : {}
  return { ...common, entity, grouping, filters: { ...values, ...includeSystem } as EventFilters }
}

/** When events under some filters may have happened. */
function spanOf(
  { date_after: after, date_before: before }: EventFilters,
  now: Date,
): { fromMs: number; untilMs: number } {
  const latestMs = now.getTime() + 365 * DAY_MS
  const fromMs = Math.min(Math.max(after?.getTime() ?? 0, EVENT_EARLIEST_MS), latestMs)
  return { fromMs, untilMs: Math.min(before?.getTime() ?? now.getTime() + EVENT_AHEAD_MS_MAX, latestMs) }
}

/** What cannot be computed of events. */
function problemsOfMeasure({ metric, field }: Measure, grouping: NamedGrouping): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const [, owner, key = ''] = /^(contact|company)\.(.+)/s.exec(field) ?? []
  if (needsNumbers(metric) && owner !== undefined) {
    const entity = owner === 'contact' ? 'contacts' : 'companies'
    const message = `is a property of ${entity}: aggregate the entity ${entity} with metric_field ${key}, or name a key of data as data.${owner}\\.${key}`
    details.push({ path: 'metric_field', message })
  }
  const message = `must name at most ${PATH_KEYS_MAX} keys`
  if (needsNumbers(metric) && pathOfField(field).length > PATH_KEYS_MAX) details.push({ path: 'metric_field', message })
  if (grouping.by === 'data' && grouping.path.length > PATH_KEYS_MAX) details.push({ path: 'group_by', message })
  return details
}
