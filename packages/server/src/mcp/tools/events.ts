import Type from 'typebox'
import { EVENT_DIMENSIONS, PERIODS } from '../../aggregate/event-dimensions.ts'
import { COMPANY_DIMENSIONS } from '../../companies/dimensions.ts'
import { CONTACT_DIMENSIONS } from '../../contacts/dimensions.ts'
import { METRICS } from '../../figures/measure.ts'
import { EVENT_NAME_LENGTH_MAX } from '../../journal/event-record.ts'
import type { Values } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { checkComparisons, requireVisible } from './comparisons.ts'
import { idOf, totalOf } from './contacts.ts'
import { companyId, pageInput, ROWS, segmentFilter, since, until } from './inputs.ts'
import { bag, count, listOf, pageOf, person, record, text } from './outputs.ts'

const eventType = Type.Optional(
  Type.String({ maxLength: EVENT_NAME_LENGTH_MAX, description: 'Exact event name, e.g. page_view.' }),
)
const identifiedOnly = Type.Optional(Type.Boolean({ description: 'Only events of known contacts.' }))
const includeSystem = Type.Optional(
  Type.Boolean({
    description: 'Also events that the service records itself, such as contact_created or segment_entered.',
  }),
)

function dimensions(known: object): string {
  return Object.keys(known).join(', ')
}

/** Filters with the contacts' ids in place of their pseudonyms. */
function withContactIds(filters: Values): Values {
  const { contact_id: id, contact_ids: ids } = filters
  return {
    ...filters,
    ...(typeof id === 'string' ? { contact_id: idOf(id) } : {}),
    ...(Array.isArray(ids) ? { contact_ids: ids.map((each) => (typeof each === 'string' ? idOf(each) : each)) } : {}),
  }
}

const COMPANY = record({ company_id: text, name: text, domain: text })

const TIMES = [...PERIODS, 'created_day']

/** Buckets of equal value in the order of the keys that the caller sees: the order of hidden ones would reveal them. */
function inOrder(buckets: unknown, dimension: string): Values[] {
  if (TIMES.includes(dimension)) return buckets as Values[]
  const keyOf = ({ key }: Values) => String(key)
  const figureOf = ({ value }: Values) => (value === null ? Number.NEGATIVE_INFINITY : Number(value))
  return (buckets as Values[]).toSorted((one, other) => {
    if (one.value !== other.value) return figureOf(other) - figureOf(one)
    return keyOf(one) < keyOf(other) ? -1 : 1
  })
}

export const EVENT_TOOLS: readonly Tool[] = [
  tool({
    name: 'query_events',
    title: 'Query events',
    description:
      'Single events, newest first, with the contact and company that each belongs to. To count or group events, use aggregate or event_stats instead of reading them all.',
    uses: ['listEvents'],
    input: {
      event_type: eventType,
      contact_id: Type.Optional(idInput()),
      company_id: companyId,
      domain: Type.Optional(Type.String({ maxLength: 300, description: 'Exact host of the URL.' })),
      url_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
      title_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
      text_contains: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'Part of the text that was clicked.' }),
      ),
      referring_domain: Type.Optional(Type.String({ maxLength: 300 })),
      after: since,
      before: until,
      identified_only: identifiedOnly,
      include_system: includeSystem,
      count_only: Type.Optional(Type.Boolean({ description: 'Return only the total.' })),
      ...pageInput,
    },
    output: pageOf('events', {
      timestamp: text,
      event: text,
      url: text,
      data: bag,
      referring_domain: text,
      contact_id: text,
      contact: person,
      company: COMPANY,
      visitor_id: text,
      event_id: text,
    }),
    async run(call, { after, before, contact_id, include_system: system, limit = ROWS, cursor, ...rest }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listEvents', {
        ...rest,
        contact_id: contact_id === undefined ? undefined : idOf(contact_id),
        date_after: after,
        date_before: before,
        include: system ? 'system' : undefined,
        ...place,
      })
      if (rest.count_only) return { total: result.count }
      const rows = (result.events as Record<string, unknown>[]).map(({ internal_contact_id: contactId, ...event }) => ({
        ...pick(event, ['timestamp', 'event', 'url', 'data', 'referring_domain']),
        contact_id: contactId,
        ...pick(event, ['contact', 'company', 'visitor_id', 'event_id']),
      }))
      return listResult('events', rows, place, totalOf(result))
    },
  }),
  tool({
    name: 'aggregate',
    title: 'Aggregate records',
    description:
      'Count contacts, companies or events by a property, take figures of a number, or count distinct people, contacts, visitors or sessions of events. Besides these dimensions, any property can be grouped by: property keys of contacts and companies, `company.<key>` of contacts, and of events `data.<path>`, `contact.<key>` and `company.<key>`. ' +
      `Contacts: ${dimensions(CONTACT_DIMENSIONS)}. Companies: ${dimensions(COMPANY_DIMENSIONS)}. Events: ${dimensions(EVENT_DIMENSIONS)}.`,
    uses: ['aggregate'],
    input: {
      entity: Type.Enum(['contacts', 'companies', 'events']),
      group_by: Type.String({ maxLength: 200 }),
      filters: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'Contacts: e.g. country, lifecycle_stage, segment_id, created_after. Events: e.g. event_type, url_contains, date_after, identified_only.',
          },
        ),
      ),
      people: Type.Optional({
        ...segmentFilter,
        description:
          'Events only: a segment filter, or that of insight_people: only the events of these contacts. With group_by contact_id: the most active of them.',
      }),
      metric: Type.Optional(Type.Enum(METRICS, { description: 'unique_… are of events only.' })),
      metric_field: Type.Optional(
        Type.String({ maxLength: 200, description: 'The number, for avg, sum, min, max, median and p90.' }),
      ),
      time_zone: Type.Optional(
        Type.String({ maxLength: 64, description: 'IANA time zone of days and hours; default: the workspace’s.' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Buckets, 25 by default.' })),
      include_system: includeSystem,
    },
    output: {
      entity: text,
      group_by: text,
      metric: text,
      total: count,
      distinct_groups: count,
      buckets: listOf(
        record({
          key: Type.Optional(Type.Union([Type.String(), Type.Boolean(), Type.Number(), Type.Null()])),
          value: Type.Optional(Type.Number()),
          contact: person,
          company: COMPANY,
        }),
      ),
      warnings: listOf(Type.String()),
    },
    async run(call, { include_system: system, filters, people, ...rest }) {
      await checkComparisons(call, 'contacts', people)
      const entity = rest.entity === 'companies' ? 'companies' : 'contacts'
      await requireVisible(call, entity, rest.metric_field)
      const sent = {
        ...rest,
        filters: filters && withContactIds(filters as Values),
        ...(system ? { include: 'system' } : {}),
      }
      call.refusePseudonyms(sent)
      const result = await call.operate('aggregate', { ...sent, ...(await call.reveal({ people })) })
      const buckets = call.isRedacted ? inOrder(result.buckets, rest.group_by) : (result.buckets as Values[])
      return {
        ...pick(result, ['entity', 'group_by', 'metric', 'total', 'distinct_groups']),
        // Records without a value have the key null.
        buckets: buckets.map((bucket) => ({ key: null, ...compactRecord(bucket) })),
        // A model would take a misspelled property for one without values.
        ...(call.warnings.length > 0 ? { warnings: call.warnings } : {}),
      }
    },
  }),
  tool({
    name: 'event_stats',
    title: 'Event statistics',
    description: 'How many events there were, by name, by domain and by day. Fast on any amount of data.',
    uses: ['getEventStats'],
    input: {
      event_type: eventType,
      domain: Type.Optional(Type.String({ maxLength: 300 })),
      after: since,
      before: until,
      identified_only: identifiedOnly,
      group_by: Type.Optional(
        Type.Enum(['type', 'domain', 'day'], { description: 'Only this list. Default: all three.' }),
      ),
      include_system: includeSystem,
    },
    output: {
      total: count,
      by_type: listOf(record({ type: text, count })),
      by_domain: listOf(record({ domain: text, count })),
      by_day: listOf(record({ date: text, count })),
    },
    async run(call, { after, before, include_system: system, ...rest }) {
      const include = system ? 'system' : undefined
      const { stats } = await call.operate('getEventStats', {
        ...rest,
        date_after: after,
        date_before: before,
        include,
      })
      return compactRecord(stats)
    },
  }),
]
