import Type from 'typebox'
import { EVENT_NAME_LENGTH_MAX, EVENT_TEXT_LENGTH_MAX } from '../../journal/event-record.ts'
import { parseEmail } from '../../platform/email.ts'
import { type ServiceError, validationError } from '../../platform/errors.ts'
import { emailInput, idInput } from '../../platform/http/inputs.ts'
import { recordCheck, recordList } from '../../platform/http/records.ts'
import { isUuid } from '../../platform/ids.ts'
import { type Call, EMPTY_CALL } from './call.ts'

const EVENTS_MAX = 500

const Text = Type.Optional(Type.String({ maxLength: EVENT_TEXT_LENGTH_MAX }))

/** What an event says, whoever sends it. */
export const CONTENT_FIELDS = {
  url: Text,
  title: Text,
  referrer: Text,
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'At most 32 KiB of JSON.', 'x-expected': 'an object' }),
  ),
}

export function eventName(example: string) {
  return Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, examples: [example] })
}

const ServerEvent = Type.Object(
  {
    event: eventName('order_paid'),
    event_id: Type.Optional(
      Type.String({
        description:
          'A UUID of your choice. An event with the same id is recorded once within 24 hours, so you can send a request again. It becomes the id of the event, unless another sender has used it, or it is a UUIDv7 whose time is more than 12 hours away.',
        pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
        'x-expected': 'a UUID',
      }),
    ),
    timestamp: Type.Optional(
      Type.String({
        description:
          'When it happened: ISO 8601 with an offset, not before 2000. Default: now, as for a time more than 24 hours ahead.',
        examples: ['2026-01-31T08:00:00.000Z'],
      }),
    ),
    contact_id: Type.Optional(
      Type.String({ description: 'The contact whose event it is. Send it without user_id and email.' }),
    ),
    user_id: Type.Optional(idInput({ description: "Your own system's id of the person." })),
    email: Type.Optional(emailInput()),
    visitor_id: Type.Optional(
      idInput({
        description: 'A visitor of the tracker. Beside another key, the visitor is linked to the contact.',
      }),
    ),
    session_id: Type.Optional(idInput()),
    ...CONTENT_FIELDS,
    context: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "The person's device: screen, language, timezone, user_agent, analytics_user_id, and ip, from which the country, region and city follow and which is not stored. Other fields are ignored.",
        'x-expected': 'an object',
      }),
    ),
  },
  { additionalProperties: false },
)

/** The names of an event's fields. */
export const SERVER_EVENT_FIELDS: ReadonlySet<string> = new Set(Object.keys(ServerEvent.properties))

/** Body of POST /v1/events. */
export const EVENTS_FIELDS = { events: recordList(ServerEvent, EVENTS_MAX) }

export const EVENTS_EXAMPLE = {
  events: [
    {
      event: 'order_paid',
      event_id: '6f1c2a52-54b5-4b4f-9c0e-0d5b8a1f7c11',
      user_id: 'user-42',
      data: { order_id: '1815', amount: 49.9, currency: 'EUR' },
    },
  ],
}

const checkEvent = recordCheck(ServerEvent)

/** Validates an event of a server. @returns the call, or its error. */
export function parseServerEvent(sent: unknown): Call | ServiceError {
  const details = checkEvent(sent)
  if (details.length > 0) return validationError(details)
  const { contact_id, user_id, email, visitor_id, event_id, session_id, context, ...event } = sent as Type.Static<
    typeof ServerEvent
  >
  const address = email === undefined ? null : parseEmail(email)
  if (email !== undefined && address === null) details.push({ path: 'email', message: 'is not a valid email address' })
  if (contact_id !== undefined && !isUuid(contact_id))
    details.push({ path: 'contact_id', message: 'is not a contact id' })
  const hasOther = user_id !== undefined || email !== undefined
  if (contact_id !== undefined && hasOther) {
    details.push({ path: 'contact_id', message: 'names the contact: omit user_id and email' })
  }
  if (details.length > 0) return validationError(details)
  return {
    ...EMPTY_CALL,
    contactId: contact_id?.toLowerCase() ?? null,
    userId: user_id ?? null,
    email: address,
    visitorId: visitor_id ?? null,
    event: {
      ...event,
      sentId: event_id?.toLowerCase() ?? null,
      sessionId: session_id ?? null,
      context: context ?? {},
      clockCorrection: 0,
    },
  }
}
