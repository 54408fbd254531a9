import Type from 'typebox'
import { readTenant } from '../access/tenants.ts'
import { COMPANY_DIMENSIONS } from '../companies/dimensions.ts'
import { namesOfCompanies } from '../companies/list.ts'
import { people } from '../companies/people.ts'
import type { Config } from '../config.ts'
import { CONTACT_DIMENSIONS } from '../contacts/dimensions.ts'
import { hiddenFromSearch } from '../contacts/search.ts'
import { conditionsOf } from '../events/conditions.ts'
import { JoinedCompany, JoinedContact } from '../events/event-object.ts'
import { pathOfField } from '../figures/event-figures.ts'
import { CONTACT_MARKS, EVENT_MARKS, markByName } from '../figures/marks-by-name.ts'
import { METRICS, type Measure, needsNumbers } from '../figures/measure.ts'
import { phoneNumbersIn } from '../figures/phone-numbers.ts'
import { copyValuesOfContacts } from '../figures/values-of-contacts.ts'
import { operationsWith, type Redaction } from '../operations/declare.ts'
import { Nullable } from '../platform/http/responses.ts'
import { LABEL, WORD, when } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { warningsAbout } from '../properties/in-conditions.ts'
import { unknownPropertyWarnings } from '../properties/unknown.ts'
import type { Bucket } from './dimension.ts'
import { EVENT_DIMENSIONS } from './event-dimensions.ts'
import { BY_NOTHING, byData, byRecord, exists, hasData } from './event-groupings.ts'
import { aggregateEvents, type EventSummary } from './events.ts'
import { aggregateCompanies, aggregateContacts, hasValue, type Summary } from './records.ts'
import {
  AGGREGATE_FIELDS,
  AggregateBody,
  type Aggregation,
  checkAggregation,
  parseAggregation,
  SCOPES_OF_OTHERS,
  scopeOfBody,
} from './requests.ts'
import { restricted } from './where.ts'

const OF_COMPANIES = { ...COMPANY_DIMENSIONS, name: { mark: LABEL }, domain: { mark: WORD } }

/** What a group's key is: as its dimension says or, of a property, as its name does. */
const OF_DIMENSION = when(
  'entity',
  ['events'],
  markByName('group_by', { ...EVENT_MARKS, ...EVENT_DIMENSIONS }),
  when(
    'entity',
    ['companies'],
    markByName('group_by', OF_COMPANIES),
    markByName('group_by', { ...CONTACT_DIMENSIONS, ...CONTACT_MARKS }),
  ),
)

/** Grouping of contacts, companies or events. */
/** Services of the operation. */
export interface AggregateServices {
  config: Pick<Config, 'eventFilterContactsMax'>
}

const aggregateOperation = operationsWith<AggregateServices>()

export const AGGREGATE_OPERATIONS = [
  aggregateOperation({
    name: 'aggregate',
    tag: 'Aggregation',
    http: 'POST /v1/aggregate',
    command: 'aggregate',
    scope: 'any-key',
    scopeOf: scopeOfBody,
    also: SCOPES_OF_OTHERS,
    summary: 'Group contacts, companies or events, and compute a figure for each group',
    description:
      'Buckets are sorted by value, highest first; for hours, days, weeks and months, the most recent ones are returned in chronological order. Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on the entity.',
    input: AGGREGATE_FIELDS,
    body: AggregateBody,
    output: {
      entity: Type.String(WORD),
      group_by: Type.String(WORD),
      metric: Type.Unsafe<(typeof METRICS)[number]>({ type: 'string', enum: METRICS }),
      buckets: Type.Array(
        Type.Object({
          key: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
            description: 'null if the value is missing. A record counts in the bucket of each item of a list.',
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
    errors: ['400 event_filter_too_broad', '400 unknown_segment', '409 segment_counting'],
    reads: true,
    async run({ tenant, now, config, requireScope, warn, redaction }, sent) {
      const body = checkAggregation(sent)
      const { time_zone: timeZone = (await readTenant(tenant)).timeZone } = body
      const contactsMax = config.eventFilterContactsMax
      const context = { tenant, now, contactsMax, requireScope, visibleOnly: redaction !== undefined }
      const parsed = await restricted(parseAggregation(body, timeZone, now), body, context)
      const aggregation = withRedaction(parsed, redaction)
      const { metric, field } = aggregation.measure
      if (!needsNumbers(metric) && field !== '') {
        const uses = metric === 'count' ? 'counts records' : 'uses no numbers'
        warn(`metric_field was ignored: the metric '${metric}' ${uses}`)
      }
      const summary = await summaryOf(tenant, aggregation, redaction)
      const unknown = await unknownIn(tenant, aggregation, body.group_by, summary)
      const warnings = [
        ...(await unknownPropertyWarnings(tenant, body.entity, unknown)),
        ...(await warningsAbout(tenant, body.entity, body.where)),
        ...(body.entity === 'events' ? await warningsAbout(tenant, 'contacts', body.people) : []),
      ]
      for (const warning of new Set(warnings)) warn(warning)
      return { entity: body.entity, group_by: body.group_by, metric, ...summary }
    },
  }),
]

/** The aggregation of a caller from whom personal values may be hidden. */
function withRedaction(aggregation: Aggregation, redaction: Redaction | undefined): Aggregation {
  if (redaction === undefined) return aggregation
  const measure = { ...aggregation.measure, redaction: { orderSecret: redaction.orderSecret, phoneNumbers: [] } }
  if (aggregation.entity !== 'events') return { ...aggregation, measure }
  return { ...aggregation, measure, filters: { ...aggregation.filters, visibleOnly: true } }
}

type EventAggregation = Extract<Aggregation, { entity: 'events' }>

async function summaryOf(tenant: Tenant, aggregation: Aggregation, redaction: Redaction | undefined) {
  const { measure, limit } = aggregation
  if (aggregation.entity === 'contacts') {
    const { filters, grouping } = aggregation
    const hidden = redaction && (await hiddenFromSearch(tenant, redaction, filters))
    return aggregateContacts(tenant, { ...filters, ...(hidden ? { hidden } : {}) }, grouping, measure, limit)
  }
  if (aggregation.entity === 'companies') {
    return aggregateCompanies(tenant, aggregation.filters, aggregation.grouping, measure, limit)
  }
  const { distinctGroups, ...summary } = await eventsBy(tenant, aggregation)
  return { ...summary, distinct_groups: distinctGroups, total_matching: summary.total }
}

async function eventsBy(tenant: Tenant, aggregation: EventAggregation): Promise<EventSummary> {
  const { grouping: named, filters, limit } = aggregation
  const measure = await withoutPhoneNumbers(tenant, aggregation)
  if (named.by === 'record') {
    const isRedacted = measure.redaction !== undefined
    const setId = await copyValuesOfContacts(tenant, await conditionsOf(tenant, filters), named.record, isRedacted)
    const summary = await aggregateEvents(tenant, filters, byRecord(named.record, setId), measure, limit)
    return named.record.name === 'company_id' ? withCompanies(tenant, summary) : summary
  }
  if (named.by === 'data') {
    const hidden = measure.redaction && (await phoneNumbersIn(tenant, filters, named.path))
    return aggregateEvents(tenant, filters, byData(named.path, hidden), measure, limit)
  }
  const grouping = named.by === 'column' ? named.grouping : BY_NOTHING
  const summary = await aggregateEvents(tenant, filters, grouping, measure, limit)
  return grouping.kind === 'contact' ? withContacts(tenant, summary) : summary
}

/** For a caller from whom personal values are hidden, phone numbers are no numbers. */
async function withoutPhoneNumbers(tenant: Tenant, { measure, filters }: EventAggregation): Promise<Measure> {
  const { metric, field, redaction } = measure
  if (redaction === undefined || !needsNumbers(metric)) return measure
  const phoneNumbers = await phoneNumbersIn(tenant, filters, pathOfField(field))
  return { ...measure, redaction: { ...redaction, phoneNumbers } }
}

/** The properties in a request that nothing of the tenant has. */
async function unknownIn(
  tenant: Tenant,
  aggregation: Aggregation,
  groupBy: string,
  { buckets }: Summary,
): Promise<string[]> {
  const { entity, grouping, measure } = aggregation
  const unknown: string[] = []
  if (buckets.every(({ key }) => key === null)) {
    const isKnown = entity === 'events' ? exists(tenant, grouping) : hasValue(tenant, grouping)
    if (!(await isKnown)) unknown.push(groupBy)
  }
  const { metric, field } = measure
  if (needsNumbers(metric) && buckets.every(({ value }) => value === null)) {
    const isKnown =
      entity === 'events' ? hasData(tenant, pathOfField(field)) : hasValue(tenant, { ...grouping, name: field })
    if (!(await isKnown)) unknown.push(field)
  }
  return unknown
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
