import { ServiceError } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { parseServerEvent, SERVER_EVENT_FIELDS } from '../sites/ingestion/requests.ts'
import { type Fields, fieldsOf, textOf } from '../sites/segment/fields.ts'
import { type Format, idOfText, requireTime } from './format.ts'

/** The events of `POST /v1/events`. */
export const native: Format = {
  matches: (line) =>
    typeof line.event === 'string' &&
    ['contact_id', 'user_id', 'email', 'visitor_id'].some((key) => typeof line[key] === 'string'),
  toCall: (line) => {
    const { event_id, ...sent } = line
    requireTime('timestamp', textOf(line.timestamp))
    const call = parseServerEvent(sent)
    if (call instanceof ServiceError) throw call
    const id = textOf(event_id)
    if (call.event && id !== '') call.event.sentId = isUuid(id) ? id.toLowerCase() : idOfText(`event_id ${id}`)
    return call
  },
}

/** A row of a CSV file as an event: columns that are not fields of an event are its data. */
export function eventOfRow(row: Fields): Fields {
  const entries = Object.entries(row)
  const fields = entries.filter(([name]) => SERVER_EVENT_FIELDS.has(name))
  const others = entries.filter(([name]) => !SERVER_EVENT_FIELDS.has(name))
  if (others.length === 0) return row
  return { ...Object.fromEntries(fields), data: { ...Object.fromEntries(others), ...fieldsOf(row.data) } }
}
