import { firstCharacters } from '../../platform/characters.ts'
import { EMPTY_CALL } from '../../sites/ingestion/call.ts'
import { type Client, textOf } from '../client.ts'
import type { ConnectorObject, SourceCall } from '../connector.ts'
import { type Item, type Owner, readAssociations, readOwners, readPage } from './api.ts'
import { timeOf } from './map.ts'

const TITLE_LENGTH_MAX = 500
const TEXT_LENGTH_MAX = 2_000

/** A kind of activity, and the event that it becomes. */
interface Engagement {
  /** The type in the path, which is also the name of the object. */
  type: string
  event: string
  title: string
  /** HubSpot's properties that become event data, by our names. */
  data: Readonly<Record<string, string>>
  /** The properties that contain the time, in order of preference. */
  times: readonly string[]
  /** Activities that have not taken place are skipped. */
  isDone?(properties: Record<string, unknown>): boolean
}

const ENGAGEMENTS: readonly Engagement[] = [
  {
    type: 'calls',
    event: 'hubspot_call',
    title: 'hs_call_title',
    data: { direction: 'hs_call_direction', status: 'hs_call_status', duration_ms: 'hs_call_duration' },
    times: ['hs_timestamp'],
  },
  {
    type: 'emails',
    event: 'hubspot_email',
    title: 'hs_email_subject',
    data: { direction: 'hs_email_direction', status: 'hs_email_status' },
    times: ['hs_timestamp'],
  },
  {
    type: 'meetings',
    event: 'hubspot_meeting',
    title: 'hs_meeting_title',
    data: { outcome: 'hs_meeting_outcome', location: 'hs_meeting_location', ends_at: 'hs_meeting_end_time' },
    times: ['hs_meeting_start_time', 'hs_timestamp'],
  },
  {
    type: 'notes',
    event: 'hubspot_note',
    title: '',
    data: { text: 'hs_note_body' },
    times: ['hs_timestamp'],
  },
  {
    type: 'tasks',
    event: 'hubspot_task',
    title: 'hs_task_subject',
    data: { type: 'hs_task_type', priority: 'hs_task_priority' },
    times: ['hs_task_completion_date', 'hs_timestamp'],
    isDone: ({ hs_task_status }) => hs_task_status === 'COMPLETED',
  },
]

const NUMBERS = ['duration_ms']

/** The types that agents' activities have here too. */
const STORED = ['notes', 'emails']

/** Activities become events of their associated contacts. */
export function engagementObjects(overlapSeconds: number): ConnectorObject[] {
  return ENGAGEMENTS.map((engagement) => {
    const { type, title, data, times } = engagement
    const names = [...(title === '' ? [] : [title]), ...Object.values(data), ...times]
    const properties = [
      ...new Set([...names, 'hs_timestamp', 'hs_task_status', 'hubspot_owner_id', 'hs_lastmodifieddate']),
    ]
      // Other types of activities do not have this property.
      .filter((name) => name !== 'hs_task_status' || type === 'tasks')
    const reading = {
      type,
      properties,
      changedAt: 'hs_lastmodifieddate',
      happensAt: 'hs_timestamp',
      hasDeleted: false,
    }
    return {
      name: type,
      overlapSeconds,
      needs: ['contacts'],
      read: async (client, range) => {
        const { items, next } = await readPage(client, reading, range)
        return { calls: await callsOf(client, engagement, items, range.until), next }
      },
    }
  })
}

async function callsOf(
  client: Client,
  engagement: Engagement,
  items: readonly Item[],
  until: Date,
): Promise<SourceCall[]> {
  const happened = items.filter((item) => {
    const at = happenedAt(engagement, item)
    return at !== null && at <= until && engagement.isDone?.(item.properties) !== false
  })
  if (happened.length === 0) return []
  const ids = happened.map(({ id }) => id)
  const contacts = await readAssociations(client, engagement.type, 'contacts', ids)
  const owners = await readOwners(client)
  return happened.flatMap((item) =>
    (contacts.get(item.id) ?? []).map((contact) => ({
      // Each contact gets an event.
      id: `${item.id}/${contact}`,
      contact,
      ...(STORED.includes(engagement.type)
        ? { activity: { id: `${engagement.type}/${item.id}`, subject: textOf(item.properties[engagement.title]) } }
        : {}),
      call: {
        ...EMPTY_CALL,
        event: {
          event: engagement.event,
          timestamp: (happenedAt(engagement, item) ?? until).toISOString(),
          data: dataOf(engagement, item, owners),
          sentId: null,
          sessionId: null,
          context: {},
          clockCorrection: 0,
        },
      },
    })),
  )
}

function happenedAt({ times }: Engagement, { properties }: Item): Date | null {
  for (const name of times) {
    const at = timeOf(properties[name])
    if (at !== null) return at
  }
  return null
}

function dataOf({ title, data }: Engagement, { id, properties }: Item, owners: ReadonlyMap<string, Owner>) {
  const owner = owners.get(textOf(properties.hubspot_owner_id) ?? '')
  const values = Object.entries(data).flatMap(([name, property]): [string, string | number][] => {
    const text = textOf(properties[property])
    if (text === null) return []
    if (NUMBERS.includes(name)) return Number.isFinite(Number(text)) ? [[name, Number(text)]] : []
    return [[name, firstCharacters(name === 'text' ? plainText(text) : text, TEXT_LENGTH_MAX)]]
  })
  const subject = title === '' ? null : textOf(properties[title])
  return {
    hubspot_id: id,
    ...(subject === null ? {} : { title: firstCharacters(subject, TITLE_LENGTH_MAX) }),
    ...Object.fromEntries(values),
    ...(owner?.name ? { hubspot_owner: owner.name } : {}),
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }

/** Notes are HTML. */
function plainText(html: string): string {
  return html
    .replace(/<(br|\/p|\/div|\/li)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
    .trim()
}
