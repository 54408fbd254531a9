import { firstCharacters } from '../../platform/characters.ts'
import { EMPTY_CALL } from '../../sites/ingestion/call.ts'
import { type Client, textOf } from '../client.ts'
import type { ReadRange, RecordsPage, SourceCall } from '../connector.ts'
import { type Item, readPage, secondsOf } from './read.ts'
import { idOf } from './store-activities.ts'

const TEXT_LENGTH_MAX = 2_000

/** Completed activities become events of the person. */
export async function readActivities(client: Client, range: ReadRange): Promise<RecordsPage> {
  const query = { done: 'true', updated_until: secondsOf(range.until) }
  const { items, next } = await readPage(client, '/api/v2/activities', range, query)
  return { calls: items.flatMap((item) => toCall(item) ?? []), next }
}

function toCall(item: Item): SourceCall | null {
  const person = textOf(item.person_id)
  if (person === null || item.is_deleted === true || item.done !== true) return null
  const due = textOf(item.due_date)
  const timestamp = textOf(item.marked_as_done_time) ?? (due === null ? textOf(item.update_time) : `${due}T00:00:00Z`)
  const note = textOf(item.note)?.replace(/<[^>]*>/g, ' ') ?? null
  const texts = {
    activity_id: textOf(item.id),
    activity_type: textOf(item.type),
    subject: textOf(item.subject),
    note: note === null ? null : firstCharacters(note.trim(), TEXT_LENGTH_MAX),
    duration: textOf(item.duration),
    deal_id: textOf(item.deal_id),
    organization_id: textOf(item.org_id),
  }
  const data = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null && value !== ''))
  const event = {
    event: 'pipedrive_activity',
    timestamp: timestamp ?? undefined,
    data,
    sentId: null,
    sessionId: null,
    context: {},
    clockCorrection: 0,
  }
  const activity = { id: idOf('email', String(item.id)), subject: textOf(item.subject) }
  return { id: String(item.id), contact: person, activity, call: { ...EMPTY_CALL, event } }
}
