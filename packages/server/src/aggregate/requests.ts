import type { TSchema } from 'typebox'
import Type from 'typebox'
import { COMPANY_DIMENSIONS } from '../companies/dimensions.ts'
import type { CompanyFilters } from '../companies/list.ts'
import { ListCompaniesQuery } from '../companies/requests.ts'
import { CONTACT_DIMENSIONS } from '../contacts/dimensions.ts'
import { COMPANY_FACET_FILTERS, CONTACT_FACET_FILTERS } from '../contacts/facets.ts'
import type { ContactFilters } from '../contacts/list.ts'
import { ListContactsQuery } from '../contacts/requests.ts'
import { CONTACT_IDS_MAX, type EventFilters, eventFilterSchemasExcept } from '../events/filters.ts'
import { includeSystemInBody } from '../events/requests.ts'
import type { Scope } from '../operations/scopes.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { asBodyFields, parseBounds } from '../platform/http/body-bounds.ts'
import { compileBodyCheck } from '../platform/http/body-validation.ts'
import { filterId, filterText } from '../platform/http/query-parameters.ts'
import { isObject } from '../platform/is-object.ts'
import { type Dimensions, groupBySchema, METRICS, type Measure } from './dimension.ts'
import { EVENT_DIMENSIONS } from './event-dimensions.ts'

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

const MEASURE_FIELDS = {
  metric: Type.Optional(
    Type.Unsafe<(typeof METRICS)[number]>({
      type: 'string',
      enum: METRICS,
      default: 'count',
      description:
        'The figure of each bucket: the number of records, or one computed from the numbers in metric_field.',
    }),
  ),
  metric_field: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Required unless the metric is count: a property or, for events, a key of data. Numbers count, and texts of numbers such as "12"; a bucket without any has the value null.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 25, description: 'Maximum number of buckets.' }),
  ),
}

function aggregation<
  const Entity extends string,
  const Known extends Dimensions,
  const Filters extends Record<string, TSchema>,
  const More extends Record<string, TSchema>,
>(entity: Entity, dimensions: Known, filters: Filters, more: More) {
  const names = Object.keys(filters).join(', ')
  return Type.Object(
    {
      entity: Type.Literal(entity),
      group_by: groupBySchema(dimensions),
      filters: Type.Optional(
        Type.Object(filters, {
          additionalProperties: false,
          description: `Filters of ${entity}; all must match.`,
          'x-unknown': `is not a filter of ${entity}; use one of ${names}`,
        }),
      ),
      ...MEASURE_FIELDS,
      ...more,
    },
    { title: `AggregationOf${entity[0]?.toUpperCase()}${entity.slice(1)}`, additionalProperties: false },
  )
}

const Contacts = aggregation('contacts', CONTACT_DIMENSIONS, CONTACT_FILTERS, {})
const Companies = aggregation('companies', COMPANY_DIMENSIONS, COMPANY_FILTERS, {})
const Events = aggregation('events', EVENT_DIMENSIONS, EVENT_FILTERS, { include: includeSystemInBody })

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
  group_by: Type.String({ description: 'A dimension of the entity.' }),
  filters: Type.Optional(Type.Object({}, { description: 'Filters of the entity; all must match.' })),
  ...MEASURE_FIELDS,
  include: includeSystemInBody,
}

/** The scope that a request needs, which depends on its entity. @throws ServiceError 400. */
export function scopeOfBody(body: unknown): Scope {
  return ENTITIES[entityOf(body)].scope
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
export type Aggregation =
  | {
      entity: 'contacts'
      dimension: keyof typeof CONTACT_DIMENSIONS
      filters: ContactFilters & { segment_id?: string }
    }
  | { entity: 'companies'; dimension: keyof typeof COMPANY_DIMENSIONS; filters: CompanyFilters }
  | { entity: 'events'; dimension: keyof typeof EVENT_DIMENSIONS; filters: EventFilters }

/** Validates what the schemas cannot. @throws ServiceError 400 naming every invalid field. */
export function parseAggregation(body: AggregationBody): Aggregation & {
  measure: Measure
  limit: number
} {
  const { metric = 'count', metric_field: field, limit = 25 } = body
  const details: ErrorDetail[] = []
  if (metric !== 'count' && field === undefined) {
    details.push({ path: 'metric_field', message: `is required for the metric ${metric}` })
  }
  const fields = { contacts: CONTACT_FILTERS, companies: COMPANY_FILTERS, events: EVENT_FILTERS }[body.entity]
  const parsed = parseBounds(fields, body.filters ?? {}, 'filters.')
  details.push(...parsed.details)
  if (details.length > 0) throw validationError(details)
  const includeSystem = body.entity === 'events' && body.include === 'system' ? { includeSystem: true } : {}
  const filters = { ...parsed.values, ...includeSystem }
  return {
    entity: body.entity,
    dimension: body.group_by,
    filters,
    measure: { metric, field: field ?? '' },
    limit,
  } as ReturnType<typeof parseAggregation>
}
