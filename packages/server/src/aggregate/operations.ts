import Type from 'typebox'
import { COMPANY_DIMENSIONS } from '../companies/dimensions.ts'
import { namesOfCompanies } from '../companies/list.ts'
import { people } from '../companies/people.ts'
import { CONTACT_DIMENSIONS } from '../contacts/dimensions.ts'
import { hiddenFromSearch } from '../contacts/search.ts'
import { JoinedCompany, JoinedContact } from '../events/event-object.ts'
import { operation, type Redaction } from '../operations/declare.ts'
import { Nullable } from '../platform/http/responses.ts'
import { WORD, when } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Bucket, METRICS, markByName } from './dimension.ts'
import { EVENT_DIMENSIONS } from './event-dimensions.ts'
import { aggregateEvents, type EventSummary } from './events.ts'
import { aggregateEventsByCompany } from './events-by-company.ts'
import { aggregateEventsByContact } from './events-by-contact.ts'
import { phoneNumbersIn } from './phone-numbers.ts'
import { aggregateCompanies, aggregateContacts } from './records.ts'
import { AGGREGATE_FIELDS, AggregateBody, checkAggregation, parseAggregation, scopeOfBody } from './requests.ts'

/** Grouping of contacts, companies or events. */
/** What a group's key is: as its dimension says. */
const OF_DIMENSION = when(
  'entity',
  ['events'],
  markByName(EVENT_DIMENSIONS),
  when('entity', ['companies'], markByName(COMPANY_DIMENSIONS), markByName(CONTACT_DIMENSIONS)),
)

export const AGGREGATE_OPERATIONS = [
  operation({
    name: 'aggregate',
    tag: 'Aggregation',
    http: 'POST /v1/aggregate',
    command: 'aggregate',
    scope: 'any-key',
    scopeOf: scopeOfBody,
    summary: 'Group contacts, companies or events, and compute a figure for each group',
    description:
      'Buckets are sorted by value, highest first; for days, weeks and months, the most recent ones are returned in chronological order. Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on the entity.',
    input: AGGREGATE_FIELDS,
    body: AggregateBody,
    output: {
      entity: Type.String(WORD),
      group_by: Type.String(WORD),
      metric: Type.Unsafe<(typeof METRICS)[number]>({ type: 'string', enum: METRICS }),
      buckets: Type.Array(
        Type.Object({
          key: Type.Union([Type.String(), Type.Boolean(), Type.Null()], {
            description: 'null if the value is missing.',
            ...OF_DIMENSION,
          }),
          value: Type.Union([Type.Number(), Type.Null()], {
            description: 'null if no record in the bucket has a number.',
          }),
          contact: Type.Optional(
            Nullable(JoinedContact, 'Events by contact_id only: the contact, or null if it was deleted.'),
          ),
          company: Type.Optional(Nullable(JoinedCompany, 'Events by company_id only: the company.')),
        }),
      ),
      total: Type.Integer({ description: 'The number of matching records, for every metric.' }),
      distinct_groups: Type.Optional(
        Type.Integer({
          description:
            'Events only: the number of distinct values of the dimension, not limited by `limit`; null is not counted.',
        }),
      ),
      total_matching: Type.Optional(Type.Integer({ description: 'Events only: the same as total.' })),
    },
    example: { entity: 'contacts', group_by: 'country' },
    errors: ['400 unknown_segment', '409 segment_counting'],
    reads: true,
    async run({ tenant, warn, redaction }, sent) {
      const body = checkAggregation(sent)
      const aggregation = await redacted(tenant, parseAggregation(body), redaction)
      const { metric, field } = aggregation.measure
      if (metric === 'count' && field !== '') {
        warn("metric_field was ignored: the metric 'count' counts records")
      }
      const summary = await summaryOf(tenant, aggregation)
      return { entity: body.entity, group_by: body.group_by, metric, ...summary }
    },
  }),
]

/** The aggregation of a caller from whom personal values may be hidden. */
async function redacted(
  tenant: Tenant,
  aggregation: Aggregation,
  redaction: Redaction | undefined,
): Promise<Aggregation> {
  if (redaction === undefined) return aggregation
  const { orderSecret } = redaction
  if (aggregation.entity === 'events') {
    const filters = { ...aggregation.filters, visibleOnly: true }
    const phoneNumbers = await phoneNumbersIn(tenant, filters, aggregation.measure)
    const measure = { ...aggregation.measure, redaction: { orderSecret, phoneNumbers } }
    return { ...aggregation, measure, filters }
  }
  const measure = { ...aggregation.measure, redaction: { orderSecret, phoneNumbers: [] } }
  if (aggregation.entity === 'companies') return { ...aggregation, measure }
  const hidden = await hiddenFromSearch(tenant, redaction, aggregation.filters)
  return { ...aggregation, measure, filters: { ...aggregation.filters, hidden } } as Aggregation
}

type Aggregation = ReturnType<typeof parseAggregation>
type EventAggregation = Extract<Aggregation, { entity: 'events' }>

async function summaryOf(tenant: Tenant, aggregation: Aggregation) {
  const { measure, limit } = aggregation
  if (aggregation.entity === 'contacts') {
    return aggregateContacts(tenant, aggregation.filters, aggregation.dimension, measure, limit)
  }
  if (aggregation.entity === 'companies') {
    return aggregateCompanies(tenant, aggregation.filters, aggregation.dimension, measure, limit)
  }
  const { distinctGroups, ...summary } = await eventsBy(tenant, aggregation)
  return { ...summary, distinct_groups: distinctGroups, total_matching: summary.total }
}

async function eventsBy(tenant: Tenant, { dimension, filters, measure, limit }: EventAggregation) {
  if (dimension === 'contact_id')
    return withContacts(tenant, await aggregateEventsByContact(tenant, filters, measure, limit))
  if (dimension === 'company_id')
    return withCompanies(tenant, await aggregateEventsByCompany(tenant, filters, measure, limit))
  return aggregateEvents(tenant, filters, EVENT_DIMENSIONS[dimension], measure, limit)
}

async function withContacts(tenant: Tenant, summary: EventSummary): Promise<EventSummary> {
  const contacts = await people.withCompanies(tenant, keysOf(summary))
  const named = (bucket: Bucket) => ({ ...bucket, contact: contacts.get(String(bucket.key))?.contact ?? null })
  return { ...summary, buckets: summary.buckets.map(named) }
}

async function withCompanies(tenant: Tenant, summary: EventSummary): Promise<EventSummary> {
  const companies = await namesOfCompanies(tenant, keysOf(summary))
  const named = (bucket: Bucket) => ({ ...bucket, company: companies.get(String(bucket.key)) ?? null })
  return { ...summary, buckets: summary.buckets.map(named) }
}

function keysOf({ buckets }: EventSummary): string[] {
  return buckets.map(({ key }) => String(key))
}
