import Type from 'typebox'
import { type Line, readJsonLines } from '../../event-formats/lines.ts'
import { mixpanel as format, personOfMixpanel } from '../../event-formats/mixpanel.ts'
import { validationError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Download } from '../../platform/outbound/download.ts'
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS, MINUTE_MS } from '../../platform/time.ts'
import { fieldsOf } from '../../sites/segment/fields.ts'
import { ApiRefused, type Client, objectsOf, retryAfter, textOf } from '../client.ts'
import type { Connector, Profile, ReadRange, RecordsPage, Settings } from '../connector.ts'
import { sourceCallOf } from '../event-lines.ts'
import { type FileLines, pagesOfLines } from '../json-lines.ts'
import { dayAfter, dayOf, openZone, type Zone } from './zone.ts'

const HOSTS = {
  us: { data: 'https://data.mixpanel.com', query: 'https://mixpanel.com' },
  eu: { data: 'https://data-eu.mixpanel.com', query: 'https://eu.mixpanel.com' },
  in: { data: 'https://data-in.mixpanel.com', query: 'https://in.mixpanel.com' },
} as const
/** The first day for which Mixpanel exports events. */
const FIRST_DAY = '2011-07-10'
/** An event may appear in the export slightly after Mixpanel processed it. */
const OVERLAP_SECONDS = HOUR_SECONDS
/** Profiles are read once a day, and each read goes back two days. */
const PROFILES_OVERLAP_SECONDS = 2 * DAY_SECONDS
/** SDKs may send events for this long after they happened. */
const LATE_DAYS = 5
/** Mixpanel does not say when its limit of 60 requests an hour ends. */
const RETRY_MS = 5 * MINUTE_MS
const PAGE_SIZE = 1_000
/** The first page of profiles waits for the whole query. */
const QUERY_MS_MAX = 2 * MINUTE_MS
/** The last line of an export that Mixpanel could not finish. The response still has a success status. */
const ENDED_EARLY = 'terminated early'

/**
 * Mixpanel's raw export and its profiles: https://docs.mixpanel.com/reference/raw-event-export and
 * https://docs.mixpanel.com/reference/engage-query. Events are exported one day at a time. The current day is read repeatedly
 * until it is over. Then it and the days before are read once more, to include events that were sent late.
 */
export const mixpanel: Connector = {
  name: 'mixpanel',
  label: 'Mixpanel',
  kind: 'analytics',
  credentials: {
    username: 'The username of a service account with access to the project: Settings → Service accounts.',
    secret: 'The secret of the service account.',
  },
  settings: {
    project_id: Type.String({
      pattern: '^[0-9]{1,12}$',
      description: 'Settings → Project details → Project ID.',
      examples: ['2195193'],
    }),
    region: Type.Optional(
      Type.Enum(['us', 'eu', 'in'], { description: 'Where the project stores its data. Default: us.' }),
    ),
    time_zone: Type.Optional(
      Type.String({
        maxLength: 60,
        description:
          'Only for projects created before 2023: the project time zone, in which Mixpanel exports days and times. Default: UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  baseUrl: (settings) => {
    zoneOf(settings)
    return hostsOf(settings).data
  },
  otherUrls: (settings) => ({ query: hostsOf(settings).query }),
  headers: ({ username = '', secret = '' }) => ({
    authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
  }),
  // 3 requests a second.
  pauseMs: 334,
  retryAt: (response, now) => retryAfter(response, now, RETRY_MS),
  explain: ({ body }) => (isObject(body) ? (textOf(body.error) ?? textOf(body.message) ?? '') : ''),
  account: async (client, settings) => {
    const today = dayOf(new Date(), zoneOf(settings))
    const file = await exportDays(client, settings, today, today, { limit: 1 })
    await file.close()
    const { region = 'us', project_id } = settings
    return { id: `${String(region)} ${String(project_id)}`, label: `Project ${String(project_id)}` }
  },
  objects: [
    { name: 'profiles', overlapSeconds: PROFILES_OVERLAP_SECONDS, read: readProfiles },
    { name: 'events', overlapSeconds: OVERLAP_SECONDS, read: readEvents },
  ],
}

function hostsOf({ region = 'us' }: Settings): (typeof HOSTS)[keyof typeof HOSTS] {
  return HOSTS[region as keyof typeof HOSTS] ?? HOSTS.us
}

function zoneOf({ time_zone = 'UTC' }: Settings): Zone {
  const zone = openZone(String(time_zone))
  if (zone !== null) return zone
  throw validationError([{ path: 'settings.time_zone', message: 'must be a time zone like Europe/Berlin' }])
}

function exportDays(client: Client, { project_id }: Settings, from: string, to: string, more: { limit?: number } = {}) {
  return client.download({
    path: '/api/2.0/export',
    query: { project_id: String(project_id), from_date: from, to_date: to, time_in_ms: 'true', ...more },
    headers: { accept: 'text/plain', 'accept-encoding': 'gzip' },
  })
}

/** The progress of a read. */
type EventsCursor = {
  day: string
  /** The number of lines of this day that were read. */
  lines: number
  /** The digest of the file that was read. If the file has changed, the day is read from its start. */
  digest: string
}

async function* readEvents(client: Client, range: ReadRange): AsyncGenerator<RecordsPage> {
  const { until, settings, signal } = range
  const zone = zoneOf(settings)
  const lastDay = dayOf(until, zone)
  const cursor = range.cursor as EventsCursor | null
  const day = cursor?.day ?? (await firstDay(client, range, zone, lastDay))
  const next = day < lastDay ? { day: dayAfter(day), lines: 0, digest: '' } : null
  const file = await exportDays(client, settings, day, day)
  const done = cursor?.digest === file.digest ? cursor.lines : 0
  try {
    const rest = yield* pagesOfLines(linesOf(file, { day, lines: done, digest: file.digest }, range), signal)
    yield { ...rest, next }
  } finally {
    await file.close()
  }
}

async function* linesOf(file: Download, from: EventsCursor, range: ReadRange): AsyncGenerator<FileLines> {
  const { since, settings, isHistory } = range
  const { day } = from
  const zone = zoneOf(settings)
  const namespace = `mixpanel ${String(settings.project_id)}`
  const toCall = ({ value, text, number }: Line) => {
    if (text.trim() === ENDED_EARLY) throw new ApiRefused(0, `Mixpanel ended the export of ${day} early.`)
    const { properties } = fieldsOf(value)
    const processedAt = Number(fieldsOf(properties).mp_processing_time_ms ?? Number.NaN)
    // The event was read before. Reading it again could bring back erased data.
    if (!isHistory && since !== null && processedAt < since.getTime()) return null
    const line = { value: inUtc(value, zone), text }
    return sourceCallOf(line, { namespace, format, name: `line ${number} of ${day}` })
  }
  const cursorAfter = (lines: number) => ({ ...from, lines })
  for await (const lines of readJsonLines(file.read(), from.lines)) yield { lines, toCall, cursorAfter }
}

async function firstDay(
  client: Client,
  { since, until, isHistory, settings, signal }: ReadRange,
  zone: Zone,
  lastDay: string,
): Promise<string> {
  if (since === null) return firstDayWithEvents(client, settings, lastDay, signal)
  if (isHistory) return dayOf(since, zone)
  const isNewDay = isFirstOfDay({ since, until }, OVERLAP_SECONDS, zone)
  return dayOf(new Date(since.getTime() - (isNewDay ? LATE_DAYS * DAY_MS : 0)), zone)
}

/** Halves the range until one day is left: about 13 exports of one event, instead of one for each day since 2011. */
async function firstDayWithEvents(
  client: Client,
  settings: Settings,
  lastDay: string,
  signal: AbortSignal,
): Promise<string> {
  let [first, last] = [Date.parse(FIRST_DAY), Date.parse(lastDay)].map((ms) => ms / DAY_MS) as [number, number]
  const toDay = (number: number) => new Date(number * DAY_MS).toISOString().slice(0, 10)
  while (first < last) {
    signal.throwIfAborted()
    const middle = Math.floor((first + last) / 2)
    const file = await exportDays(client, settings, toDay(first), toDay(middle), { limit: 1 })
    const hasEvents = await file
      .read()
      .next()
      .finally(() => file.close())
    if (hasEvents.done) first = middle + 1
    else last = middle
  }
  return toDay(first)
}

/** Whether no pull has been completed since the day started. @param range its `since` has the overlap subtracted. */
function isFirstOfDay({ since, until }: { since: Date; until: Date }, overlapSeconds: number, zone: Zone): boolean {
  return dayOf(new Date(since.getTime() + overlapSeconds * 1_000), zone) < dayOf(until, zone)
}

/** In older projects, an event's time is local time in the project's time zone. */
function inUtc(value: unknown, zone: Zone): unknown {
  const line = fieldsOf(value)
  const properties = fieldsOf(line.properties)
  if (zone.name === 'UTC' || typeof properties.time !== 'number') return value
  return { ...line, properties: { ...properties, time: zone.toUtc(properties.time) } }
}

type ProfilesCursor = { session: string; page: number }

/** Profiles have no reliable time of change, so all are read once a day. Profiles not seen since the day before are skipped. */
async function readProfiles(client: Client, range: ReadRange): Promise<RecordsPage> {
  const { since, until, settings, isHistory } = range
  const zone = zoneOf(settings)
  const cursor = range.cursor as ProfilesCursor | null
  const isOld = !isHistory && since !== null
  if (isOld && cursor === null && !isFirstOfDay({ since, until }, PROFILES_OVERLAP_SECONDS, zone)) return { next: null }
  const response = await queryProfiles(client, settings, cursor)
  // Mixpanel discards a query after a while. Reading from its first page again creates no duplicates.
  if (response === null) return readProfiles(client, { ...range, cursor: null })
  const results = objectsOf(response.results)
  const profiles = results.flatMap(({ $distinct_id: distinctId, $properties: properties }): Profile[] => {
    const person = personOfMixpanel(distinctId, fieldsOf(properties))
    if (person === null) return []
    const { updatedAt, ...rest } = person
    const isUnchanged = updatedAt !== undefined && isOld && Date.parse(updatedAt) < since.getTime()
    if (isUnchanged) return []
    return [{ id: person.userId, ...rest, visitorIds: [], updated_at: updatedAt ?? until.toISOString() }]
  })
  const size = Number(response.page_size ?? PAGE_SIZE)
  const session = textOf(response.session_id)
  const isLast = results.length < size || session === null
  return { profiles, next: isLast ? null : { session, page: Number(response.page ?? 0) + 1 } }
}

/** @returns null if Mixpanel no longer knows the query. */
async function queryProfiles(client: Client, { project_id }: Settings, cursor: ProfilesCursor | null) {
  try {
    return await client.call({
      host: 'query',
      method: 'POST',
      path: '/api/query/engage',
      query: { project_id: String(project_id), session_id: cursor?.session, page: cursor?.page },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      isRead: true,
      timeoutMs: QUERY_MS_MAX,
    })
  } catch (error) {
    if (cursor !== null && error instanceof ApiRefused && error.status === 400) return null
    throw error
  }
}
