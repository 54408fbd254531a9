import { campaignOf } from '../../journal/campaign.ts'
import {
  EVENT_AHEAD_MS_MAX,
  EVENT_DATA_BYTES_MAX,
  EVENT_EARLIEST_MS,
  EVENT_TEXT_LENGTH_MAX,
  type EventRecord,
  NOBODY,
} from '../../journal/event-record.ts'
import { canBeEventId } from '../../journal/sent-ids.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { newId } from '../../platform/ids.ts'
import type { Place } from '../../platform/places.ts'
import { MINUTE_MS, parseTimestamp } from '../../platform/time.ts'
import type { ClientHints } from '../track/client-hints.ts'
import { isOriginMismatch, locate, referringDomain } from '../track/location.ts'
import { parseUserAgent, type UserAgent } from '../track/user-agent.ts'

const USER_AGENT_LENGTH_MAX = 2_000
/** A smaller difference between two clocks may be the time that the request took. */
const CLOCK_TOLERANCE_MS = MINUTE_MS
const CONTEXT_LENGTH_MAX = 1_000

/** An event as a page or a server sends it. */
export interface SentEvent {
  event: string
  timestamp?: string | undefined
  url?: string | undefined
  title?: string | undefined
  referrer?: string | undefined
  data?: Record<string, unknown> | undefined
}

/** Who sent an event, when and how. */
export interface Received {
  tenantId: string
  visitorId: string
  sessionId: string
  at: Date
  /** Host of the page that sent it. */
  pageHost: string | null
  userAgentHeader: string
  userAgent: UserAgent
  /** Where the person is. */
  place: Place
}

/** Reports an invalid field. */
export type Problem = (name: string, message: string) => void

/** A browser, by its User-Agent and its client hints. */
export function browserOf(
  userAgent: string | undefined,
  hints: ClientHints | null = null,
): Pick<Received, 'userAgentHeader' | 'userAgent'> {
  const userAgentHeader = (userAgent ?? '').slice(0, USER_AGENT_LENGTH_MAX)
  return { userAgentHeader, userAgent: parseUserAgent(userAgentHeader, hints) }
}

/** What came with an event. */
interface Sending {
  /** A UUID in lower case; null if the sender chose none. */
  sentId?: string | null
  /** Milliseconds to add to the timestamp, because the sender's clock differs. */
  clockCorrection?: number
  /** Unknown fields are ignored. */
  context?: Record<string, unknown>
  received: Received
}

/**
 * The event as it will be stored, whoever sent it: enriched, cut to length, and without its owner, who is set when it is
 * recorded. Events without a timestamp share one; their ids keep the order in which they were sent.
 */
export function toRecord(
  event: SentEvent,
  { sentId = null, clockCorrection = 0, context: sentContext = {}, received }: Sending,
  problem: Problem,
): EventRecord {
  const context = readContext(sentContext)
  const data = dataOf(event, problem)
  const { domain, path } = locate(event.url)
  const referrer = event.referrer ?? context.referrer
  return {
    tenant_id: received.tenantId,
    event_id: sentId !== null && canBeEventId(sentId, received.at) ? sentId : newId(),
    event: event.event,
    is_system: false,
    timestamp: timestampOf(event, received.at.getTime(), clockCorrection, problem),
    received_at: received.at.getTime(),
    visitor_id: received.visitorId,
    session_id: received.sessionId,
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
    ...campaignOf(event.url ?? ''),
    ...received.place,
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

export const EVENT_TIME_PROBLEM = 'must be an ISO 8601 timestamp with an offset, like 2026-01-31T08:00:00.000Z'

function timestampOf(event: SentEvent, now: number, correction: number, problem: Problem): number {
  if (event.timestamp === undefined) return now
  const parsed = parseTimestamp(event.timestamp)
  if (!parsed) {
    problem('timestamp', EVENT_TIME_PROBLEM)
    return now
  }
  const timestamp = parsed.getTime() + correction
  if (timestamp < EVENT_EARLIEST_MS) problem('timestamp', 'must not be before the year 2000')
  return timestamp > now + EVENT_AHEAD_MS_MAX ? now : timestamp
}

/** The correction of a sender's clock, in milliseconds to add. */
export function correctionOfClock(sentAt: Date, receivedAt: Date): number {
  const difference = receivedAt.getTime() - sentAt.getTime()
  return Math.abs(difference) > CLOCK_TOLERANCE_MS ? difference : 0
}

/** The data of an event, as the JSON to store and as values. */
function dataOf(event: SentEvent, problem: Problem): { text: string; values: Record<string, unknown> } {
  const sent = event.data
  const values = event.title === undefined || sent?.title !== undefined ? (sent ?? {}) : { ...sent, title: event.title }
  const text = JSON.stringify(values)
  // A character has at most three bytes here, so most texts need no exact count.
  if (text.length * 3 > EVENT_DATA_BYTES_MAX && Buffer.byteLength(text) > EVENT_DATA_BYTES_MAX) {
    problem('data', `must be at most ${EVENT_DATA_BYTES_MAX} bytes of JSON`)
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
    referrer: firstCharacters(textOf(context.referrer), EVENT_TEXT_LENGTH_MAX),
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
