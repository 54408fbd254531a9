import {
  EVENT_AHEAD_MS_MAX,
  EVENT_DATA_BYTES_MAX,
  EVENT_EARLIEST_MS,
  EVENT_TEXT_LENGTH_MAX,
  type EventRecord,
  NOBODY,
} from '../../journal/event-record.ts'
import { firstCharacters } from '../../platform/characters.ts'
import { MINUTE_MS, parseTimestamp } from '../../platform/time.ts'
import { isOriginMismatch, locate, referringDomain } from '../track/location.ts'
import type { UserAgent } from '../track/user-agent.ts'

export const USER_AGENT_LENGTH_MAX = 2_000
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

/** The data of an event, as the JSON to store and as values. */
export interface EventData {
  text: string
  values: Record<string, unknown>
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
}

/** Reports an invalid field. */
export type Problem = (name: string, message: string) => void

/** The checked parts of an event. */
interface Parts {
  id: string
  timestamp: number
  data: EventData
  context: Context
  received: Received
}

export function toRecord(event: SentEvent, { id, timestamp, data, context, received }: Parts): EventRecord {
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

export const EVENT_TIME_PROBLEM = 'must be an ISO 8601 timestamp with an offset, like 2026-01-31T08:00:00.000Z'

export function timestampOf(event: SentEvent, now: number, correction: number, problem: Problem): number {
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
export function clockCorrection(sentAt: Date, receivedAt: Date): number {
  const difference = receivedAt.getTime() - sentAt.getTime()
  return Math.abs(difference) > CLOCK_TOLERANCE_MS ? difference : 0
}

export function dataOf(event: SentEvent, problem: Problem): EventData {
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

export interface Context {
  screen: string
  language: string
  timezone: string
  referrer: string
  analyticsUserId: string
}

export function readContext(context: Record<string, unknown>): Context {
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
