import Type from 'typebox'
import { idInput } from '../../platform/http/inputs.ts'
import { CONTENT_FIELDS, eventName } from '../ingestion/requests.ts'

/** Without a part that cannot be stored, the rest of the request still says what happened: the part is left out. */
const LEFT_OUT = { 'x-unstorable': 'left-out' } as const
/** Without its name, its id or its time, an event is not what was sent. */
const REJECTS = { 'x-unstorable': 'rejects' } as const

const Event = Type.Object(
  {
    event_id: Type.Optional(
      Type.String({
        description:
          'A UUID chosen by the caller: an event is recorded once, however often its visitor sends it within 24 hours. It becomes the id of the event. An id that another event has, and a UUIDv7 whose time is more than 12 hours away, are replaced by a new one.',
        pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
        'x-expected': 'a UUID',
        ...REJECTS,
      }),
    ),
    event: { ...eventName('page_view'), ...REJECTS },
    timestamp: Type.Optional(Type.String({ description: 'When it happened; ISO 8601 with an offset.', ...REJECTS })),
    ...CONTENT_FIELDS,
    data: Type.Optional({ ...CONTENT_FIELDS.data, ...LEFT_OUT }),
    // Validated later: an invalid address must not reject the event.
    lead: Type.Optional(
      Type.Unknown({
        'x-null': 'absent',
        ...LEFT_OUT,
        description:
          'An email address that the visitor left with the event, such as in a video. It identifies the visitor as a form does, within the limits of forms, and is not stored with the event. An invalid one is ignored with a warning.',
        examples: ['ada@example.com'],
      }),
    ),
  },
  { additionalProperties: false, ...LEFT_OUT },
)

/** Body of POST /track. */
export const TrackBody = Type.Object(
  {
    visitor_id: Type.Optional(idInput()),
    session_id: Type.Optional(idInput()),
    // Validated later, like `identify`.
    external_contact_id: Type.Optional(
      Type.Unknown({
        'x-null': 'absent',
        'x-digits': true,
        description:
          "The visitor's contact, by its external user id or its contact_id: a string of 1 to 200 characters, or a number. One that cannot be used is ignored with a warning.",
        examples: ['user-42'],
      }),
    ),
    // Validated later: an invalid identification must not reject the events.
    identify: Type.Optional(
      Type.Unknown({
        'x-null': 'absent',
        'x-unstorable': 'fails',
        'x-parts': { properties: { external_user_id: { 'x-digits': true } } },
        description:
          'Who the visitor is: {external_user_id?, traits?: {email?, …}}. Traits become properties, translated like the fields of a form (`firstName` is `firstname`; `address: {city}` is `address.city`), if a page may change them. Invalid values are ignored with a warning.',
        examples: [{ external_user_id: 'user-42', traits: { email: 'ada@example.com' } }],
      }),
    ),
    user_hash: Type.Optional(
      Type.Unknown({
        'x-null': 'absent',
        description:
          'Proves `identify`: the HMAC-SHA256 of external_user_id, else of the lower-case email, keyed with the identity secret, in hexadecimal. A hash that does not match is ignored with a warning.',
        examples: ['5e8f0c3f1d7f4f1a8c9b0e6d2a4c6b8e0f1a3c5d7e9b2d4f6a8c0e1b3d5f7a9c'],
      }),
    ),
    // What a tracker knows about the browser; unknown fields are ignored.
    context: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { 'x-expected': 'an object', ...LEFT_OUT })),
    events: Type.Optional(
      Type.Array(Event, { maxItems: 10, description: '1 to 10 events; optional if `identify` is sent.', ...REJECTS }),
    ),
    sent_at: Type.Optional(
      Type.String({ description: "The sender's clock when it sends, used to correct the timestamps." }),
    ),
  },
  {
    additionalProperties: false,
    ...LEFT_OUT,
    examples: [
      {
        visitor_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
        events: [{ event: 'page_view', url: 'https://shop.example.com/pricing', title: 'Pricing' }],
      },
    ],
  },
)

/** Body of POST /recover-visitor. */
export const RecoverVisitorBody = Type.Object(
  {
    fingerprint: Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      'x-expected': 'the SHA-256 of the fingerprint: 64 hexadecimal characters',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    visitor_id: Type.Optional(idInput()),
  },
  { additionalProperties: false },
)

export type TrackBody = Type.Static<typeof TrackBody>
