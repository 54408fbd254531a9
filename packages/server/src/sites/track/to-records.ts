import type { EventRecord, SentId } from '../../journal/event-record.ts'
import { canBeEventId } from '../../journal/sent-ids.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { parseTimestamp } from '../../platform/time.ts'
import {
  clockCorrection,
  dataOf,
  EVENT_TIME_PROBLEM,
  type Received,
  readContext,
  timestampOf,
  toRecord,
} from '../ingestion/event-fields.ts'
import type { TrackBody } from './requests.ts'

/**
 * Converts a validated body to the records to store: corrects the clock, enriches, truncates.
 * @throws ServiceError 400 that names every invalid event.
 */
export function toRecords(body: TrackBody, received: Received): { events: EventRecord[]; sentIds: SentId[] } {
  const details: ErrorDetail[] = []
  const correction = correctionOf(body.sent_at, received.at, details)
  const context = readContext(body.context ?? {})
  const sentIds: SentId[] = []
  const events = (body.events ?? []).map((event, index) => {
    const problem = (name: string, message: string) => details.push({ path: `events[${index}].${name}`, message })
    const timestamp = timestampOf(event, received.at.getTime(), correction, problem)
    const data = dataOf(event, problem)
    const sentId = event.event_id?.toLowerCase()
    // Events without a timestamp share one; their ids preserve the order in which they were sent.
    const id = sentId !== undefined && canBeEventId(sentId, received.at) ? sentId : newId()
    const record = toRecord(event, { id, timestamp, data, context, received })
    if (sentId !== undefined) sentIds.push({ event: record, id: sentId })
    return record
  })
  if (details.length > 0) throw validationError(details)
  return { events, sentIds }
}

function correctionOf(sentAt: string | undefined, receivedAt: Date, details: ErrorDetail[]): number {
  if (sentAt === undefined) return 0
  const sent = parseTimestamp(sentAt)
  if (!sent) {
    details.push({ path: 'sent_at', message: EVENT_TIME_PROBLEM })
    return 0
  }
  return clockCorrection(sent, receivedAt)
}
