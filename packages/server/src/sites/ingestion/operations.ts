import Type from 'typebox'
import { eventIdOf } from '../../journal/sent-ids.ts'
import { type Context, operationsWith } from '../../operations/declare.ts'
import { ServiceError } from '../../platform/errors.ts'
import { ContactId, Id, Nullable, RecordError } from '../../platform/http/responses.ts'
import { newId } from '../../platform/ids.ts'
import type { Call } from './call.ts'
import type { RecordCalls } from './record-calls.ts'
import { EVENTS_EXAMPLE, EVENTS_FIELDS, parseServerEvent } from './requests.ts'

const BODY_BYTES_MAX = 4_000 * 1024

export interface IngestionServices {
  recordCalls: RecordCalls
}

const Result = Type.Object({
  index: Type.Integer({ description: 'Index of the event in the request.' }),
  status: Type.Enum(['accepted', 'failed']),
  event_id: Type.Optional(Id),
  contact_id: Type.Optional(Nullable(ContactId, 'null for an anonymous visitor.')),
  error: Type.Optional(RecordError),
})

/** Events from servers. */
export const INGESTION_OPERATIONS = [
  operationsWith<IngestionServices>()({
    name: 'sendEvents',
    tag: 'Events',
    http: 'POST /v1/events',
    command: 'event send',
    scope: 'events:write',
    summary: 'Record up to 500 events from your servers',
    description:
      'Each event names its person: contact_id, user_id, email or visitor_id. A user_id or email that no contact has yet creates one. An event that fails does not affect the others. Ids that name nobody, such as `undefined` or `null`, are ignored with the warning `ignored_id`. Responds once the events are durable; every read that starts after the response sees them. With an Idempotency-Key, events without `event_id` get ids that a retry repeats, so a retry after an interruption records each event once.',
    input: EVENTS_FIELDS,
    output: {
      results: Type.Array(Result),
      failed: Type.Integer({ description: 'How many events failed.' }),
    },
    bodyBytesMax: BODY_BYTES_MAX,
    example: EVENTS_EXAMPLE,
    options: { events: { mayBeFile: true } },
    unaudited: 'events are a record themselves',
    async run({ tenant, recordCalls, memory, warn }, { events }) {
      const calls = events.map(parseServerEvent)
      const sender = { sourceId: null, trust: 'verified', page: null } as const
      const recorded = await recordCalls(tenant, sender, memory.hasKey ? await withIds(calls, memory) : calls)
      for (const [index, result] of recorded.entries()) {
        if (result.status === 'accepted') for (const text of result.warnings) warn(`events[${index}]: ${text}`)
      }
      const results = recorded.map((result, index) =>
        result.status === 'failed'
          ? { index, status: result.status, error: result.error }
          : {
              index,
              status: result.status,
              ...(result.eventId === null ? {} : { event_id: result.eventId }),
              contact_id: result.contactId,
            },
      )
      return { results, failed: results.filter(({ status }) => status === 'failed').length }
    },
  }),
]

/** The calls, with an id for each event without one. A retry gets the same ids, so it records none again. */
async function withIds(calls: (Call | ServiceError)[], memory: Context['memory']) {
  if (calls.every((call) => call instanceof ServiceError || call.event === null || call.event.sentId !== null))
    return calls
  const request = await memory.remember(async () => newId())
  return calls.map((call, index) => {
    if (call instanceof ServiceError || call.event === null || call.event.sentId !== null) return call
    return { ...call, event: { ...call.event, sentId: eventIdOf(request, String(index)) } }
  })
}
