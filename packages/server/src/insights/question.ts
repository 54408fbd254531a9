import Type, { type Static } from 'typebox'
import { readTenant } from '../access/tenants.ts'
import type { Sql } from '../conditions/event-property.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { eventConditions, withPrefix } from '../events/conditions.ts'
import type { CompileEventFilter } from '../events/filters.ts'
import { EVENT_NAME_LENGTH_MAX } from '../journal/event-record.ts'
import type { Context } from '../operations/declare.ts'
import { isInSet } from '../platform/clickhouse/contact-sets.ts'
import { NOBODY, PERSON_OF_EVENT } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { LABEL, WORD } from '../platform/personal.ts'
import { canonicalZone, problemsOfZone, ZONE_LENGTH_MAX } from '../platform/time-zone.ts'
import { warningsAbout } from '../properties/in-conditions.ts'
import { LAST_UNITS, type LastUnit, type MovableRange, type Range, rangeIn } from './range.ts'
import { inSample, SampleAsked } from './sample.ts'

const LABEL_LENGTH_MAX = 200
const TYPES_MAX = 100

/** Which events are meant; with no field, any event. */
export const EventMeant = Type.Object(
  {
    event: Type.Optional(
      Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, description: 'Exact event name.', ...LABEL }),
    ),
    types: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, ...LABEL }), {
        minItems: 1,
        maxItems: TYPES_MAX,
        description: 'One of these event names, in place of `event`.',
      }),
    ),
    where: Type.Optional(Type.Array(Type.Unknown(), { description: 'Conditions on the event; all must be true.' })),
    label: Type.Optional(
      Type.String({ minLength: 1, maxLength: LABEL_LENGTH_MAX, description: 'How the answer names it.', ...LABEL }),
    ),
  },
  { title: 'EventMeant', additionalProperties: false },
)
export type EventMeant = Static<typeof EventMeant>

function moment(description: string) {
  return Type.Optional(Type.String({ description, examples: ['2026-01-31'], 'x-expected': TIMESTAMP_FORM, ...WORD }))
}

const RANGE_FIELDS = {
  date_from: moment('The first moment: ISO 8601 with an offset, or a date alone, which is that day in `time_zone`.'),
  date_to: moment('The last moment, and with a date alone the whole day. Default: now.'),
}

/** What every question takes. */
export const QUESTION_FIELDS = {
  ...RANGE_FIELDS,
  last: Type.Optional(
    Type.Object(
      {
        value: Type.Integer({ minimum: 1, maximum: 1_000 }),
        unit: Type.Unsafe<LastUnit>({ type: 'string', enum: LAST_UNITS }),
        complete: Type.Optional(
          Type.Boolean({ default: false, description: 'Without the running unit: 1 complete day is yesterday.' }),
        ),
      },
      {
        title: 'LastUnits',
        additionalProperties: false,
        description:
          'In place of dates: so many whole units, the running one included unless `complete` is true. Weeks begin on Monday. Without a range, the last 30 days.',
      },
    ),
  ),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ZONE_LENGTH_MAX,
      examples: ['Europe/Berlin'],
      description: "IANA time zone of days, weeks and months. Default: the workspace's.",
    }),
  ),
  where: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'Conditions on every event of the question; all must be true.' }),
  ),
  people: Type.Optional(
    Type.Unsafe<unknown>({
      'x-record': SegmentFilterSchema,
      description: 'A filter of contacts: only their events are counted. Needs the scope contacts:read.',
    }),
  ),
  include_bots: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to count events whose senders identify themselves as bots.' }),
  ),
  sample: SampleAsked,
  compare: Type.Optional(
    Type.Union(
      [
        Type.Literal('previous_period'),
        Type.Object(RANGE_FIELDS, { title: 'ComparedRange', additionalProperties: false }),
      ],
      {
        description:
          'Answers the same question for another range too, in `compare`: the one before, or one between two dates.',
      },
    ),
  ),
} as const

const Fields = Type.Object(QUESTION_FIELDS)
export type SentQuestion = Static<typeof Fields>

/** What a question may be about, in ClickHouse: its range is asked for separately. */
export interface Asked {
  tenant: Context['tenant']
  now: Date
  zone: string
  range: MovableRange
  /** The range of `compare`; null without one. */
  compared: Range | null
  /** Conditions on every event that the question may count, but for the range. */
  where: readonly string[]
  /** Those of them that hold whatever the question's own `where` says. */
  always: readonly string[]
  parameters: QueryParameters
  /** The part of all people whose events count; `always` has its condition. 1: everybody. */
  sample: number
  /** Whether the answer depends on what contacts are. */
  usesContacts: boolean
  visibleOnly: boolean
}

/** What questions need of segments, which can ask them: features do not import each other in circles. */
export interface InsightServices {
  compileEventFilter: CompileEventFilter
  /**
   * Copies the contacts that meet a filter into a set, for queries of their events.
   * @returns the set's id. @throws ServiceError 400 naming every invalid field, `unknown_segment`; 403.
   */
  copyPeople(
    tenant: Context['tenant'],
    filter: unknown,
    context: Pick<QuestionContext, 'now' | 'visibleOnly' | 'requireScope'>,
  ): Promise<string>
}

export interface QuestionContext
  extends Pick<Context, 'tenant' | 'now' | 'requireScope' | 'warn' | 'redaction'>,
    InsightServices {
  /** Whether texts are compared as AI agents see them: personal values are hidden from who asks, or asked once. */
  visibleOnly: boolean
}

/** The context of a question in a request. */
export function asking<Sent extends Context & InsightServices>(context: Sent): QuestionContext {
  return { ...context, visibleOnly: context.redaction !== undefined }
}

/** The time zone of a question, as it was sent. */
export async function zoneOf(tenant: Context['tenant'], { time_zone: zone }: SentQuestion): Promise<string> {
  return zone ?? (await readTenant(tenant)).timeZone
}

/** Reads what all questions share. @throws ServiceError 400 naming every invalid field; 403. */
export async function readQuestion(context: QuestionContext, sent: SentQuestion): Promise<Asked> {
  const { tenant, now } = context
  const details: ErrorDetail[] = []
  const { compare, where } = sent
  const sentZone = await zoneOf(tenant, sent)
  const wrongZone = problemsOfZone('time_zone', sentZone)
  const zone = wrongZone.length > 0 ? 'UTC' : canonicalZone(sentZone)
  details.push(...wrongZone)
  const found = (read: MovableRange | ErrorDetail[]): MovableRange | null => {
    if (!Array.isArray(read)) return read
    details.push(...read)
    return null
  }
  const range = found(rangeIn(sent, zone, now))
  const hasDates = typeof compare === 'object'
  if (hasDates && compare.date_from === undefined) {
    details.push({ path: 'compare.date_from', message: 'is required, or send previous_period' })
  }
  const other = hasDates && details.length === 0 ? found(rangeIn(compare, zone, now, 'compare.')) : null
  if (range === null || details.length > 0) throw validationError(details)
  const compiled = await conditionsIn(context, where, 'where', 'where_')
  const people = sent.people === undefined ? null : await context.copyPeople(tenant, sent.people, context)
  for (const warning of await warningsAbout(tenant, 'contacts', sent.people)) context.warn(warning)
  const { sample = 1 } = sent
  const sampled = sample < 1 ? inSample(sample) : null
  const always = [
    ...(sent.include_bots ? [] : ['NOT is_bot']),
    ...(people === null ? [] : [isInSet('people')]),
    ...(sampled === null ? [] : [sampled.where]),
  ]
  return {
    tenant,
    now,
    zone,
    range,
    compared: compare === 'previous_period' ? range.before() : other,
    where: [...always, ...compiled.where],
    always,
    parameters: { ...compiled.parameters, ...(people === null ? {} : { people }), ...sampled?.parameters },
    sample,
    usesContacts: isAboutContacts(sent),
    visibleOnly: context.visibleOnly,
  }
}

/** A property of contacts or of their companies; a text that looks like one does no harm. */
const NAMES_CONTACTS = /"(contact|company)\./

/** Whether the answer to a question depends on what contacts are, so that asking it needs the scope contacts:read. */
export function isAboutContacts(question: { people?: unknown; where?: unknown }): boolean {
  return question.people !== undefined || NAMES_CONTACTS.test(JSON.stringify(question))
}

/** The condition that an event is in a range. */
export function inRange({ fromMs, untilMs }: Range): { where: string[]; parameters: QueryParameters } {
  const at = (name: string) => `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`
  return {
    where: [`timestamp >= ${at('range_from')} AND timestamp <= ${at('range_until')}`],
    parameters: { range_from: fromMs, range_until: untilMs },
  }
}

/** Conditions on the events of a question. @throws ServiceError 400 naming every invalid field; 403. */
export async function conditionsIn(context: QuestionContext, where: unknown, path: string, prefix: string) {
  if (where === undefined) return { where: [], parameters: {} }
  const { tenant, warn, compileEventFilter } = context
  const { sql, parameters } = await compileEventFilter(tenant, { where, path }, context)
  for (const warning of await warningsAbout(tenant, 'events', where)) warn(warning)
  return withPrefix(prefix, { where: [sql], parameters })
}

/**
 * The condition that an event is one of those that are meant, for each. The service's own events are meant only where
 * they are named.
 * @param path of the list in the request, such as `steps`
 */
export async function compileMeant(
  context: QuestionContext,
  meant: readonly EventMeant[],
  path: string,
): Promise<Sql[]> {
  return compileFields(
    context,
    meant.map((each, index) => [`${path}[${index}]`, each]),
  )
}

/** The same for fields of one event each, with the path of each. */
export async function compileFields(
  context: QuestionContext,
  fields: readonly (readonly [path: string, meant: EventMeant])[],
): Promise<Sql[]> {
  requireOneName(fields)
  return Promise.all(
    fields.map(async ([path, { event, types, where }]) => {
      const prefix = `${path.replace(/\W/g, '')}_`
      const named = { ...(event === undefined ? {} : { event_type: event }), ...(types ? { event_types: types } : {}) }
      const own = withPrefix(prefix, eventConditions(named))
      const further = await conditionsIn(context, where, `${path}.where`, `${prefix}w_`)
      const all = [...own.where, ...further.where]
      return {
        sql: `(${all.map((each) => `(${each})`).join(' AND ') || '1'})`,
        parameters: { ...own.parameters, ...further.parameters },
      }
    }),
  )
}

function requireOneName(fields: readonly (readonly [path: string, meant: EventMeant])[]): void {
  const twice = fields.filter(([, { event, types }]) => event !== undefined && types !== undefined)
  const message = 'cannot be combined with event: send one of the two'
  if (twice.length > 0) throw validationError(twice.map(([path]) => ({ path: `${path}.types`, message })))
}

/** How an answer names events. */
export function labelOf({ label, event, types }: EventMeant): string {
  return label ?? event ?? types?.join(', ') ?? 'Any event'
}

/** The field of an answer with a label. */
export const Label = Type.String({ description: 'The `label` that was sent, or the names of the events.', ...LABEL })
/** The field of an answer with the key of an interval. */
export const IntervalKey = Type.String({ examples: ['2026-10-25'], ...WORD })

/** Who did an event, in a query `withContacts`: a contact or an anonymous visitor. */
export const PERSON = PERSON_OF_EVENT
/** The condition that somebody did an event. */
export const IS_OF_SOMEBODY = `owner_id != ${NOBODY}`

/** A query of who is behind a number: its rows have a `person` and whether it `is_contact`. A person may have several rows. */
export type PeopleQuery = EventSelect

/** A query over the rows of such a query. */
export function amongPeople(query: PeopleQuery, outer: NonNullable<EventSelect['outer']>): EventSelect {
  const around = (inner: EventSelect['outer']): NonNullable<EventSelect['outer']> =>
    inner === undefined ? outer : { ...inner, outer: around(inner.outer) }
  return { ...query, outer: around(query.outer) }
}

/** An answer as the lines of a file. */
export interface AnswerTable {
  columns: string[]
  rows: unknown[][]
}
