import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { personal, TEXT, WORD } from '../platform/personal.ts'

export const ShownParticipant = Type.Object(
  {
    address: Nullable(Type.String({ examples: ['ada@example.com'], ...personal('email') })),
    name: Nullable(Type.String({ examples: ['Ada Lovelace'], ...personal('name') })),
  },
  { title: 'Participant' },
)

export const Attachment = Type.Object(
  {
    filename: Nullable(Type.String(TEXT)),
    content_type: Type.String(WORD),
    bytes: Type.Integer(),
  },
  { title: 'Attachment' },
)

export const Message = Type.Object(
  {
    message_id: Type.String({
      description: 'The Message-ID of a mail without its angle brackets, or the id in the messaging tool.',
      ...TEXT,
    }),
    direction: Type.Enum(['inbound', 'outbound']),
    from: ShownParticipant,
    to: Type.Array(ShownParticipant),
    cc: Type.Array(ShownParticipant),
    sent_at: Timestamp,
    text: Type.String(personal('free-text')),
    html: Type.Optional(
      Type.String({
        description: 'Sanitized: without anything that runs or loads. The URL of a remote image is in data-src.',
        ...personal('free-text'),
      }),
    ),
    attachments: Type.Array(Attachment, { description: 'Metadata only; the contents are not stored.' }),
    truncated: Type.Optional(
      Type.Literal(true, {
        description:
          'Set if the response would be too large: the text is shortened and the HTML is omitted. Request fewer messages.',
      }),
    ),
  },
  { title: 'Message' },
)

export const Conversation = Type.Object(
  {
    thread_id: Id,
    channel: Type.Enum(['email', 'chat']),
    source: Type.String({
      description: '`email`, or the messaging tool.',
      examples: ['email', 'intercom'],
      ...WORD,
    }),
    subject: Nullable(Type.String(personal('free-text'))),
    participants: Type.Array(ShownParticipant),
    message_count: Type.Integer(),
    last_message_at: Timestamp,
    messages: Type.Optional(
      Type.Array(Message, { description: 'Newest first. A list has them only with include_messages.' }),
    ),
  },
  { title: 'Conversation' },
)

export const EmailThread = Type.Object(
  {
    thread_id: Id,
    last_message_id: Type.String(TEXT),
    subject: Nullable(Type.String(personal('free-text'))),
  },
  { title: 'EmailThread' },
)

export type ConversationObject = Type.Static<typeof Conversation>
export type MessageObject = Type.Static<typeof Message>
export type EmailThreadObject = Type.Static<typeof EmailThread>
