import Type from 'typebox'
import { posthog as format, personOfPostHog } from '../../event-formats/posthog.ts'
import { validationError } from '../../platform/errors.ts'
import { parseExactJson } from '../../platform/http/exact-numbers.ts'
import { isObject } from '../../platform/is-object.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import { checkUrl, RefusedAddress } from '../../platform/outbound/urls.ts'
import { DAY_MS } from '../../platform/time.ts'
import { fieldsOf } from '../../sites/segment/fields.ts'
import { type Client, textOf } from '../client.ts'
import type { Connector, Json, Profile, ReadRange, RecordsPage, Settings } from '../connector.ts'
import { EVENTS_PER_PAGE, sourceCallsOf } from '../event-lines.ts'
import { distinctIdsQuery, type EventsAfter, eventsQuery, firstEventQuery, personsQuery } from './queries.ts'

/** A request may take as long as PostHog lets a query run. */
const TIMEOUT_MS = 120_000
/** PostHog may return an event only a while after its `created_at`. */
const OVERLAP_SECONDS = 900
const PERSONS_PER_PAGE = 500
const EVENTS_PER_PAGE_MIN = 50

/**
 * PostHog's query API: https://posthog.com/docs/api/queries. Persons come first, so that events of their devices belong to
 * them. The first read selects events by their own time, one day at a time. Later reads select them by the time at which
 * PostHog received them, so events that devices send late are included.
 */
export const posthog: Connector = {
  name: 'posthog',
  label: 'PostHog',
  kind: 'analytics',
  credentials: {
    personal_api_key: 'A personal API key with the scope query:read: Settings → Account → Personal API keys.',
  },
  settings: {
    host: Type.Optional(
      Type.String({
        maxLength: 300,
        description: 'us.posthog.com (the default), eu.posthog.com, or the host of your own PostHog.',
        examples: ['eu.posthog.com'],
      }),
    ),
    project_id: Type.String({
      pattern: '^[0-9]{1,12}$',
      description: 'Settings → Project → Project ID.',
      examples: ['12345'],
    }),
  },
  baseUrl: ({ host = 'us.posthog.com' }) => urlOfHost(String(host)),
  headers: ({ personal_api_key = '' }) => ({ authorization: `Bearer ${personal_api_key}` }),
  // 240 requests a minute. The hourly limit depends on the plan and causes a 429.
  pauseMs: 250,
  explain: ({ body }) => (isObject(body) ? (textOf(body.detail) ?? textOf(body.error) ?? '') : ''),
  account: async (client, settings) => {
    await query(client, settings, 'SELECT 1')
    const { host = 'us.posthog.com', project_id } = settings
    const id = `${new URL(urlOfHost(String(host))).host} ${String(project_id)}`
    return { id, label: `Project ${String(project_id)} at ${String(host)}` }
  },
  objects: [
    { name: 'persons', overlapSeconds: OVERLAP_SECONDS, read: readPersons },
    { name: 'events', overlapSeconds: OVERLAP_SECONDS, read: readEvents },
  ],
}

/** @throws ServiceError 400 for a host with a path or a user. The address itself is checked for each call. */
function urlOfHost(host: string): string {
  const url = `https://${host.trim()}`
  if (!URL.canParse(url) || new URL(url).origin !== url.toLowerCase()) {
    throw validationError([{ path: 'settings.host', message: 'must be a host like eu.posthog.com, without https://' }])
  }
  try {
    // Unless the service allows private networks, calls to their names and addresses are refused.
    return checkUrl(url, { allowPrivate: true }).origin
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error
    throw validationError([{ path: 'settings.host', message: `is not allowed: ${error.message}` }])
  }
}

type Row = readonly unknown[]

async function query(client: Client, { project_id }: Settings, hogql: string): Promise<Row[]> {
  const { results } = await client.call({
    path: `/api/projects/${String(project_id)}/query/`,
    body: { query: { kind: 'HogQLQuery', query: hogql }, refresh: 'force_blocking' },
    isRead: true,
    timeoutMs: TIMEOUT_MS,
  })
  return Array.isArray(results) ? results.filter((row) => Array.isArray(row)) : []
}

/** Reads identified persons. Persons have no time of change, so their events show which changed. */
async function readPersons(client: Client, { since, until, cursor, settings }: ReadRange): Promise<RecordsPage> {
  const after = typeof cursor === 'string' ? cursor : null
  const rows = await query(client, settings, personsQuery({ since, until, after, limit: PERSONS_PER_PAGE }))
  const ids = rows.map(([id]) => String(id))
  const distinctIds = new Map<string, string[]>()
  if (ids.length > 0) {
    for (const [person, list] of await query(client, settings, distinctIdsQuery(ids))) {
      distinctIds.set(String(person), Array.isArray(list) ? list.map(String) : [])
    }
  }
  const profiles = rows.flatMap(([id, properties]): Profile[] => {
    const person = personOfPostHog(distinctIds.get(String(id)) ?? [], jsonOf(properties))
    return person === null ? [] : [{ id: String(id), ...person, updated_at: until.toISOString() }]
  })
  return { profiles, next: rows.length < PERSONS_PER_PAGE ? null : (ids.at(-1) ?? null) }
}

/** The progress of a read. */
interface EventsCursor {
  /** The day that is being read, in milliseconds since 1970; null in an increment. */
  day: number | null
  after: EventsAfter | null
  /** The page size. It is reduced if the events are large. */
  limit: number
}

async function readEvents(client: Client, range: ReadRange): Promise<RecordsPage> {
  const { since, until, cursor, settings, isHistory } = range
  const { day, after, limit } = (cursor as unknown as EventsCursor | null) ?? {
    day: null,
    after: null,
    limit: EVENTS_PER_PAGE,
  }
  if (!isHistory && since !== null) {
    const { calls, last, isFull, used } = await readPage(client, settings, { since, until }, after, limit)
    return { calls, next: isFull ? toCursor({ day: null, after: last, limit: used }) : null }
  }
  // The clocks of devices may be ahead.
  const last = until.getTime() + DAY_MS
  if (day === null) {
    const first = await firstDay(client, settings, since, new Date(last))
    return { next: first === null ? null : toCursor({ day: first, after: null, limit }) }
  }
  const next = day + DAY_MS
  const from = since !== null && since.getTime() > day ? since : new Date(day)
  const page = await readPage(client, settings, { from, to: new Date(Math.min(next, last)) }, after, limit)
  const { calls } = page
  if (page.isFull) return { calls, next: toCursor({ day, after: page.last, limit: page.used }) }
  if (next >= last) return { calls, next: null }
  const following = calls.length > 0 ? next : await firstDay(client, settings, new Date(next), new Date(last))
  return { calls, next: following === null ? null : toCursor({ day: following, after: null, limit: EVENTS_PER_PAGE }) }
}

/** The first day with events; null if there are none. */
async function firstDay(client: Client, settings: Settings, from: Date | null, to: Date): Promise<number | null> {
  const [[ms] = []] = await query(client, settings, firstEventQuery(from, to))
  const first = Number(ms ?? 0)
  return first > 0 ? Math.floor(first / DAY_MS) * DAY_MS : null
}

type EventsRange = Parameters<typeof eventsQuery>[0]

async function readPage(
  client: Client,
  settings: Settings,
  range: EventsRange,
  after: EventsAfter | null,
  limit: number,
) {
  let used = limit
  let rows: Row[]
  for (;;) {
    try {
      rows = await query(client, settings, eventsQuery(range, after, used))
      break
    } catch (error) {
      const isTooLong = error instanceof OutboundError && error.code === 'too_long'
      if (!isTooLong || used <= EVENTS_PER_PAGE_MIN) throw error
      used = Math.max(EVENTS_PER_PAGE_MIN, Math.floor(used / 4))
    }
  }
  const namespace = `posthog ${String(settings.host ?? 'us.posthog.com')} ${String(settings.project_id)}`
  const values = rows.map(([uuid, event, properties, timestamp, distinct_id]) => ({
    uuid,
    event,
    distinct_id,
    timestamp: isoOf(timestamp),
    // Parsed later, some at a time.
    get properties() {
      return jsonOf(properties)
    },
  }))
  const calls = await sourceCallsOf(values, { namespace, format, name: 'an event without an id' })
  const [uuid, , , timestamp] = rows.at(-1) ?? []
  const last = rows.length === 0 ? after : { time: String(timestamp), uuid: String(uuid) }
  return { calls, last, isFull: rows.length === used, used }
}

function jsonOf(value: unknown) {
  if (typeof value !== 'string') return fieldsOf(value)
  try {
    return fieldsOf(parseExactJson(value))
  } catch {
    return {}
  }
}

/** `2026-01-31 08:00:00.123456`, in UTC, as ISO 8601. */
function isoOf(time: unknown): string {
  return `${String(time).replace(' ', 'T')}Z`
}

function toCursor(cursor: EventsCursor): Json {
  return { ...cursor, after: cursor.after && { ...cursor.after } }
}
