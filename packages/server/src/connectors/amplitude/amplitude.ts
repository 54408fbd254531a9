import Type from 'typebox'
import { amplitude as format, personOfAmplitude } from '../../event-formats/amplitude.ts'
import { type Line, readJsonLines } from '../../event-formats/lines.ts'
import { isObject } from '../../platform/is-object.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { Download } from '../../platform/outbound/download.ts'
import { HOUR_MS, HOUR_SECONDS } from '../../platform/time.ts'
import { ApiRefused, type Client, textOf } from '../client.ts'
import type { Connector, Profile, ReadRange, RecordsPage, Settings } from '../connector.ts'
import { sourceCallOf } from '../event-lines.ts'
import { type FileLines, pagesOfLines } from '../json-lines.ts'
import { filesOf } from './archive.ts'

const DAY_HOURS = 24
/** An hour can be exported at most two hours after it ends, and so three hours after it starts. */
const READABLE_AFTER_MS = 3 * HOUR_MS
/** Covers the hours that could not be exported yet, and one more. */
const OVERLAP_SECONDS = 4 * HOUR_SECONDS
/** There are no events from before Amplitude existed. */
const EARLIEST_MS = Date.UTC(2012, 0, 1)
/** After an export without events, the next one covers twice as many hours, up to this number. */
const EMPTY_HOURS_MAX = 28 * DAY_HOURS
/** Gateways respond with these while Amplitude is still preparing a large export. */
const GATEWAY_STATUSES = [502, 504]
/** The errors of a response that takes too long or is too large. */
const TOO_LARGE_CODES = ['timeout', 'too_long', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

/**
 * Amplitude's export: https://amplitude.com/docs/apis/analytics/export. It returns the events that Amplitude received in a
 * range of hours, so events that devices send late are included. An archive contains one or more files per hour.
 */
export const amplitude: Connector = {
  name: 'amplitude',
  label: 'Amplitude',
  kind: 'analytics',
  credentials: {
    api_key: 'The API key of the project: Settings → Projects.',
    secret_key: 'The secret key of the project.',
  },
  settings: {
    project_id: Type.String({
      pattern: '^[0-9]{1,12}$',
      description: 'Settings → Projects → Project ID. Event ids are computed from it.',
      examples: ['187520'],
    }),
    region: Type.Optional(Type.Enum(['us', 'eu'], { description: 'Where the project stores its data. Default: us.' })),
  },
  baseUrl: ({ region = 'us' }) => (region === 'eu' ? 'https://analytics.eu.amplitude.com' : 'https://amplitude.com'),
  headers: ({ api_key = '', secret_key = '' }) => ({
    authorization: `Basic ${Buffer.from(`${api_key}:${secret_key}`).toString('base64')}`,
  }),
  pauseMs: 500,
  explain: ({ body }) => {
    if (!isObject(body)) return ''
    const { error } = body
    return (isObject(error) ? textOf(error.message) : textOf(error)) ?? textOf(body.message) ?? ''
  },
  // Of the requests that need the project's keys, this one has the smallest response.
  account: async (client, settings) => {
    await client.call({ path: '/api/2/events/list' })
    const { region = 'us', project_id } = settings
    return { id: `${String(region)} ${String(project_id)}`, label: `Project ${String(project_id)}` }
  },
  objects: [{ name: 'events', overlapSeconds: OVERLAP_SECONDS, read: readEvents }],
}

/** The progress of a read. */
type Cursor = {
  /** The first hour of the export. */
  from: string
  hours: number
  /** The file in the archive, and the number of its lines that were read. */
  file: number
  lines: number
  /** The digest of the archive that `file` and `lines` refer to. They mean nothing in another archive. */
  digest: string
}

function exportOf(from: number, hours: number): Cursor {
  return { from: new Date(from).toISOString(), hours, file: 0, lines: 0, digest: '' }
}

async function* readEvents(client: Client, range: ReadRange): AsyncGenerator<RecordsPage> {
  const { until, signal } = range
  // The first hour that cannot be exported yet.
  const end = Math.floor((until.getTime() - READABLE_AFTER_MS) / HOUR_MS) * HOUR_MS + HOUR_MS
  const since = Math.max(range.since?.getTime() ?? EARLIEST_MS, EARLIEST_MS)
  const cursor = (range.cursor as Cursor | null) ?? exportOf(Math.floor(since / HOUR_MS) * HOUR_MS, DAY_HOURS)
  const from = Date.parse(cursor.from)
  const hours = Math.min(cursor.hours, (end - from) / HOUR_MS)
  if (hours < 1) {
    yield { next: null }
    return
  }
  const following = (size: number) => {
    const next = from + hours * HOUR_MS
    return next < end ? exportOf(next, size) : null
  }
  const archive = await exportArchive(client, from, hours)
  if (archive === 'empty') yield { next: following(Math.min(hours * 2, EMPTY_HOURS_MAX)) }
  else if (archive === 'too large') yield { next: exportOf(from, Math.floor(hours / 2)) }
  else {
    const isOther = cursor.digest !== '' && cursor.digest !== archive.digest
    // Amplitude may pack the same export differently each time. A large one would then be read from its start again and
    // again, so half of it is requested instead. A single hour cannot be halved, but its events no longer change, so
    // reading continues after the last line that was read.
    if (isOther && hours > 1) {
      await archive.close()
      yield { next: exportOf(from, Math.floor(hours / 2)) }
      return
    }
    const lines = linesOf(archive, { ...cursor, hours, digest: archive.digest }, range.settings)
    try {
      const rest = yield* pagesOfLines(lines, signal, (read) => ({ profiles: profilesOf(read) }))
      // After an export that was too large, the next ones grow by one hour at a time: the hours nearby may be just as large.
      yield { ...rest, next: following(Math.min(hours + 1, DAY_HOURS)) }
    } finally {
      await archive.close()
    }
  }
}

async function exportArchive(client: Client, from: number, hours: number): Promise<Download | 'empty' | 'too large'> {
  const last = from + (hours - 1) * HOUR_MS
  try {
    return await client.download({
      path: '/api/2/export',
      query: { start: hourOf(from), end: hourOf(last) },
      headers: { accept: 'application/zip' },
    })
  } catch (error) {
    if (error instanceof ApiRefused && error.status === 404) return 'empty'
    // A single hour cannot be halved.
    if (hours > 1 && isTooLarge(error)) return 'too large'
    throw error
  }
}

/** Whether an export of fewer hours may succeed. Amplitude refuses one of more than 4 GB with 400. */
function isTooLarge(error: unknown): boolean {
  if (error instanceof OutboundError) return TOO_LARGE_CODES.includes(error.code)
  return error instanceof ApiRefused && [400, ...GATEWAY_STATUSES].includes(error.status)
}

/** In UTC, such as 20260131T08. */
function hourOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 13).replaceAll('-', '')
}

async function* linesOf(archive: Download, cursor: Cursor, { project_id }: Settings): AsyncGenerator<FileLines> {
  const namespace = `amplitude ${String(project_id)}`
  for await (const { index, read } of filesOf(archive)) {
    if (index < cursor.file) continue
    const place = `file ${index + 1} of ${cursor.from.slice(0, 13)}`
    const toCall = ({ value, text, number }: Line) =>
      sourceCallOf({ value, text }, { namespace, format, name: `line ${number} of ${place}` })
    const cursorAfter = (lines: number) => ({ ...cursor, file: index, lines })
    for await (const lines of readJsonLines(read(), index === cursor.file ? cursor.lines : 0)) {
      yield { lines, toCall, cursorAfter }
    }
  }
}

/** The properties of each person, from their latest event. */
function profilesOf(lines: readonly Line[]): Profile[] {
  const profiles = new Map<string, Profile>()
  for (const { value } of lines) {
    const person = personOfAmplitude(value)
    if (person === null) continue
    const { at, ...rest } = person
    const before = profiles.get(person.userId)
    if (before?.updated_at !== undefined && before.updated_at > at) continue
    profiles.set(person.userId, { id: person.userId, ...rest, visitorIds: [], updated_at: at })
  }
  return [...profiles.values()]
}
