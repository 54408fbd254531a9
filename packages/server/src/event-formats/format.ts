import { EVENT_AHEAD_MS_MAX } from '../journal/event-record.ts'
import { eventIdOf } from '../journal/sent-ids.ts'
import { type ServiceError, validationError } from '../platform/errors.ts'
import { parseTimestamp } from '../platform/time.ts'
import type { Call } from '../sites/ingestion/call.ts'
import { EVENT_TIME_PROBLEM } from '../sites/ingestion/event-fields.ts'
import type { Fields } from '../sites/segment/fields.ts'

/** An event format of another system. */
export interface Format {
  /** Whether a line can only be of this format. */
  matches(line: Fields): boolean
  /** @param warnings gets what was ignored. @throws ServiceError 400 that names what is wrong with the line. */
  toCall(line: Fields, warnings: string[]): Call
}

/** The format of a product analytics system, which a connector also reads. */
export interface AnalyticsFormat extends Format {
  /** The system's id of a line's event; '' if there is none. */
  idOf(line: unknown): string
}

/** Ids and lines of files are a namespace of their own, so that they never equal those of a source. */
const NAMESPACE = 'import'
const TIME_DIGITS = 8

/** The event's id for an id that is any text: the same for the same text. */
export function idOfText(text: string): string {
  return eventIdOf(NAMESPACE, text)
}

/**
 * The id of an event that has none: the same for the same line. It starts with the event's time, because files are usually
 * sorted by it, and PostgreSQL stores ordered ids faster than random ones.
 */
export function idOfLine(text: string, timestamp = ''): string {
  const seconds = Math.max(0, Math.trunc((parseTimestamp(timestamp)?.getTime() ?? 0) / 1_000))
  const time = seconds.toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS)
  return time + idOfText(`line ${text}`).slice(TIME_DIGITS)
}

/**
 * Requires the time of an event. Unlike an event that is sent as it happens, one in a file without a time, or with one
 * in the future, is a mistake.
 */
export function requireTime(path: string, text: string): string {
  const time = parseTimestamp(text)
  if (text === '') throw invalid(path, 'is required: when the event happened')
  if (time === null) throw invalid(path, EVENT_TIME_PROBLEM)
  if (time.getTime() > Date.now() + EVENT_AHEAD_MS_MAX) throw invalid(path, 'must not be more than 24 hours ahead')
  return text
}

export function invalid(path: string, message: string): ServiceError {
  return validationError([{ path, message }])
}
