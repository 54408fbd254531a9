import { isoOf, textOrNull } from '../events/event-object.ts'
import type { Owned } from '../owners/owners.ts'

/** An event as sent by the live feed. */
export interface LiveEvent {
  event_id: string
  event: string
  timestamp: string
  url: string | null
  title: string | null
  text: string | null
  contact_id: string | null
  visitor_id: string | null
  browser: string | null
  is_bot: boolean
}

/** The fields of an event that the feed needs, recorded by this process or read from ClickHouse. */
export interface RecordedEvent extends Owned {
  event_id: string
  event: string
  timestamp: number
  url: string
  title: string
  text: string
  visitor_id: string
  browser: string
  is_bot: boolean | number
}

export function toLiveEvent(record: RecordedEvent, contactId: string | null): LiveEvent {
  return {
    event_id: record.event_id,
    event: record.event,
    timestamp: isoOf(record.timestamp),
    url: textOrNull(record.url),
    title: textOrNull(record.title),
    text: textOrNull(record.text),
    contact_id: contactId,
    visitor_id: textOrNull(record.visitor_id),
    browser: textOrNull(record.browser),
    is_bot: Boolean(record.is_bot),
  }
}
