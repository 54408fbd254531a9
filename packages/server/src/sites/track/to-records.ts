import type { EventRecord, SentId } from '../../journal/event-record.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { parseTimestamp } from '../../platform/time.ts'
import { correctionOfClock, EVENT_TIME_PROBLEM, type Received, toRecord } from '../ingestion/event-fields.ts'
import type { TrackBody } from './requests.ts'

/**
 * Converts a validated body to the records to store: corrects the clock, enriches, truncates.
 * @throws ServiceError 400 that names every invalid event.
 */
export function toRecords(body: TrackBody, received: Received): { events: EventRecord[]; sentIds: SentId[] } {
  const details: ErrorDetail[] = []
  const clockCorrection = correctionOf(body.sent_at, received.at, details)
  const sentIds: SentId[] = []
  const events = (body.events ?? []).map((event, index) => {
    const sentId = event.event_id?.toLowerCase() ?? null
    const sending = { sentId, clockCorrection, context: body.context ?? {}, received }
    const record = toRecord(event, sending, (name, message) =>
      details.push({ path: `events[${index}].${name}`, message }),
    )
    if (sentId !== null) sentIds.push({ event: record, id: sentId })
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
  return correctionOfClock(sent, receivedAt)
}
