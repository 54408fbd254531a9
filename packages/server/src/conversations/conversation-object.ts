import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'

export const ShownParticipant = Type.Object(
  {
    address: Nullable(Type.String({ examples: ['ada@example.com'] })),
    name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  },
  { title: 'Participant' },
)

export const Attachment = Type.Object(
  {
    filename: Nullable(Type.String()),
    content_type: Type.String(),
    bytes: Type.Integer(),
  },
  { title: 'Attachment' },
)

export const Message = Type.Object(
  {
    message_id: Type.String({
      description: 'The Message-ID of a mail without its angle brackets, or the id in the messaging tool.',
    }),
    direction: Type.Enum(['inbound', 'outbound']),
    from: ShownParticipant,
    to: Type.Array(ShownParticipant),
    cc: Type.Array(ShownParticipant),
    sent_at: Timestamp,
    text: Type.String(),
    html: Type.Optional(
      Type.String({
        description: 'Sanitized: without anything that runs or loads. The URL of a remote image is in data-src.',
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
    source: Type.String({ description: '`email`, or the messaging tool.', examples: ['email', 'intercom'] }),
    subject: Nullable(Type.String()),
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
    last_message_id: Type.String(),
    subject: Nullable(Type.String()),
  },
  { title: 'EmailThread' },
)

export type ConversationObject = Type.Static<typeof Conversation>
export type MessageObject = Type.Static<typeof Message>
export type EmailThreadObject = Type.Static<typeof EmailThread>
