import { type EventRecord, NOBODY, type SentId } from '../../journal/event-record.ts'
import { canBeEventId } from '../../journal/sent-ids.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { idsInOrder } from '../../platform/ids.ts'
import { parseTimestamp } from '../../platform/time.ts'
import { isOriginMismatch, locate, referringDomain } from './location.ts'
import type { TrackBody, TrackedEvent } from './requests.ts'
import type { UserAgent } from './user-agent.ts'

/** A smaller difference of the sender's clock is not corrected: it may be network latency. */
const CLOCK_TOLERANCE_MS = 60_000
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const FUTURE_MS_MAX = 86_400_000
const DATA_BYTES_MAX = 32 * 1024
const CONTEXT_LENGTH_MAX = 1_000

/** A request without its body. */
export interface Received {
  tenantId: string
  visitorId: string
  sessionId: string
  at: Date
  /** Host of the page that sent the request. */
  pageHost: string | null
  userAgentHeader: string
  userAgent: UserAgent
}

/**
 * Converts a validated body to the records to store: corrects the clock, enriches, truncates.
 * @throws ServiceError 400 that names every invalid event.
 */
export function toRecords(body: TrackBody, received: Received): { events: EventRecord[]; sentIds: SentId[] } {
  const details: ErrorDetail[] = []
  const correction = clockCorrection(body.sent_at, received.at, details)
  const context = readContext(body.context ?? {})
  // Events without a timestamp share one; their ids preserve the order in which they were sent.
  const nextId = idsInOrder()
  const sentIds: SentId[] = []
  const events = (body.events ?? []).map((event, index) => {
    const problem = (name: string, message: string) => details.push({ path: `events[${index}].${name}`, message })
    const timestamp = timestampOf(event, received.at.getTime(), correction, problem)
    const data = dataOf(event, problem)
    const sentId = event.event_id?.toLowerCase()
    const id = sentId !== undefined && canBeEventId(sentId, received.at) ? sentId : nextId()
    const record = toRecord(event, { id, timestamp, data, context, received })
    if (sentId !== undefined) sentIds.push({ event: record, id: sentId })
    return record
  })
  if (details.length > 0) throw validationError(details)
  return { events, sentIds }
}

type Problem = (name: string, message: string) => void

interface Parts {
  id: string
  timestamp: number
  data: { text: string; values: Record<string, unknown> }
  context: Context
  received: Received
}

function toRecord(event: TrackedEvent, { id, timestamp, data, context, received }: Parts): EventRecord {
  const { domain, path } = locate(event.url)
  const referrer = event.referrer ?? context.referrer
  return {
    tenant_id: received.tenantId,
    event_id: id,
    event: event.event,
    is_system: false,
    timestamp,
    received_at: received.at.getTime(),
    visitor_id: received.visitorId,
    session_id: received.sessionId,
    // The owner is set when the event is recorded.
    owner_id: NOBODY,
    is_anonymous: true,
    url: event.url ?? '',
    url_path: path,
    domain,
    title: textOf(data.values.title),
    text: textOf(data.values.text),
    class: textOf(data.values.class),
    element_id: textOf(data.values.id),
    element_type: textOf(data.values.element_type) || elementTypeOf(event.event),
    referrer,
    referring_domain: referringDomain(referrer, domain),
    browser: received.userAgent.browser,
    os: received.userAgent.os,
    device_type: received.userAgent.deviceType,
    is_bot: received.userAgent.isBot,
    origin_mismatch: isOriginMismatch(domain, received.pageHost),
    screen: context.screen,
    language: context.language,
    timezone: context.timezone,
    analytics_user_id: context.analyticsUserId,
    user_agent: received.userAgentHeader,
    data: data.text,
  }
}

/** The correction of the sender's clock, in milliseconds to add. */
function clockCorrection(sentAt: string | undefined, receivedAt: Date, details: ErrorDetail[]): number {
  if (sentAt === undefined) return 0
  const sent = parseTimestamp(sentAt)
  if (!sent) {
    details.push({ path: 'sent_at', message: TIMESTAMP_FORM })
    return 0
  }
  const difference = receivedAt.getTime() - sent.getTime()
  return Math.abs(difference) > CLOCK_TOLERANCE_MS ? difference : 0
}

const TIMESTAMP_FORM = 'must be an ISO 8601 timestamp with an offset, like 2026-01-31T08:00:00.000Z'

function timestampOf(event: TrackedEvent, now: number, correction: number, problem: Problem): number {
  if (event.timestamp === undefined) return now
  const parsed = parseTimestamp(event.timestamp)
  if (!parsed) {
    problem('timestamp', TIMESTAMP_FORM)
    return now
  }
  const timestamp = parsed.getTime() + correction
  if (timestamp < EARLIEST_MS) problem('timestamp', 'must not be before the year 2000')
  return timestamp > now + FUTURE_MS_MAX ? now : timestamp
}

function dataOf(event: TrackedEvent, problem: Problem): Parts['data'] {
  const sent = event.data
  const values = event.title === undefined || sent?.title !== undefined ? (sent ?? {}) : { ...sent, title: event.title }
  const text = JSON.stringify(values)
  // A character has at most three bytes here, so most texts need no exact count.
  if (text.length * 3 > DATA_BYTES_MAX && Buffer.byteLength(text) > DATA_BYTES_MAX) {
    problem('data', `must be at most ${DATA_BYTES_MAX} bytes of JSON`)
  }
  return { text, values }
}

function elementTypeOf(event: string): string {
  if (event === 'button_click') return 'button'
  if (event === 'link_click') return 'link'
  if (event === 'form_submit') return 'form'
  return event.startsWith('video_') ? 'video' : ''
}

interface Context {
  screen: string
  language: string
  timezone: string
  referrer: string
  analyticsUserId: string
}

function readContext(context: Record<string, unknown>): Context {
  return {
    screen: screenOf(context.screen),
    language: firstCharacters(textOf(context.language), CONTEXT_LENGTH_MAX),
    timezone: firstCharacters(textOf(context.timezone), CONTEXT_LENGTH_MAX),
    referrer: firstCharacters(textOf(context.referrer), 16_384),
    analyticsUserId: firstCharacters(textOf(context.analytics_user_id), CONTEXT_LENGTH_MAX),
  }
}

/** Accepts `1920x1080` or `{width, height}`. */
function screenOf(screen: unknown): string {
  if (screen !== null && typeof screen === 'object') {
    const { width, height } = screen as Record<string, unknown>
    return typeof width === 'number' && typeof height === 'number' ? `${width}x${height}` : ''
  }
  return firstCharacters(textOf(screen), CONTEXT_LENGTH_MAX)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
