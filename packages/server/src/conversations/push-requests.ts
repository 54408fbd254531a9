import Type from 'typebox'
import { ADDRESS_LENGTH_MAX, parseEmail } from '../platform/email.ts'
import { type ErrorDetail, type ServiceError, validationError } from '../platform/errors.ts'
import { idInput } from '../platform/http/inputs.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { recordCheck, recordList } from '../platform/http/records.ts'
import { type IgnoredIds, ignoredId, NONE_IGNORED, namesNobody, nobodyDetail } from '../platform/ids-of-nobody.ts'
import { parseTimestamp } from '../platform/time.ts'
import { parseSourceName } from '../sources/requests.ts'
import { EMAIL_DIRECTORY, NAME_LENGTH_MAX, SUBJECT_LENGTH_MAX } from './clean.ts'
import type { IncomingMessage, Participant } from './message.ts'

export const EXAMPLE = {
  thread_key: '4711',
  subject: 'Cannot log in',
  contact: { external_id: '701', email: 'ada@example.com' },
  messages: [
    {
      message_id: '4711-1',
      direction: 'inbound',
      from: { address: 'ada@example.com', name: 'Ada Lovelace' },
      to: [{ name: 'Support' }],
      sent_at: '2026-01-31T08:00:00.000Z',
      text: 'The page stays white.',
    },
  ],
}

const nullable = (length: number) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: length }), Type.Null()], {
      'x-expected': `a string of at most ${length} characters, or null`,
    }),
  )
const Person = Type.Object(
  { address: nullable(ADDRESS_LENGTH_MAX), name: nullable(NAME_LENGTH_MAX) },
  { title: 'SentParticipant', additionalProperties: false },
)

const PushedMessage = Type.Object(
  {
    message_id: idInput(),
    direction: Type.Enum(['inbound', 'outbound']),
    from: Person,
    to: Type.Array(Person, { maxItems: 100 }),
    sent_at: Type.String({ 'x-expected': TIMESTAMP_FORM }),
    text: Type.String(),
    html: Type.Optional(Type.Union([Type.String(), Type.Null()], { 'x-expected': 'a string, or null' })),
  },
  { additionalProperties: false },
)

const PushedConversation = Type.Object(
  {
    thread_key: idInput({ description: 'The id of the conversation in the tool.' }),
    subject: nullable(SUBJECT_LENGTH_MAX),
    contact: Type.Optional(
      Type.Object(
        {
          external_id: Type.Optional(idInput()),
          email: Type.Optional(Type.String({ maxLength: 1_000 })),
        },
        {
          additionalProperties: false,
          description:
            'The person outside the tenant: an external_id, an email, or both. Used for every sender or recipient without an address.',
        },
      ),
    ),
    messages: Type.Array(PushedMessage, { minItems: 1, maxItems: 100 }),
  },
  { additionalProperties: false },
)

export const PushedRecords = recordList(PushedConversation)

const checkConversation = recordCheck(PushedConversation)

/** @throws ServiceError 400 for a name that a messaging tool cannot have. */
export function parseConversationSource(source: string): string {
  if (source === EMAIL_DIRECTORY) {
    throw validationError([
      { path: 'source', message: 'is reserved for the mail of connected mailboxes; choose another name' },
    ])
  }
  return parseSourceName(source)
}

/** Checks one record. @param warnings gets an id that was ignored. @returns its messages, or an error. */
export function parseConversation(
  record: unknown,
  source: string,
  ignored: IgnoredIds,
  warnings: string[],
): IncomingMessage[] | ServiceError {
  const details = checkConversation(record)
  if (details.length > 0) return validationError(details)
  const { thread_key, subject, contact, messages } = record as Type.Static<typeof PushedConversation>
  const email = contact?.email === undefined ? null : parseEmail(contact.email)
  if (contact?.email !== undefined && email === null) {
    details.push({ path: 'contact.email', message: 'is not a valid email address' })
  }
  if (contact && contact.email === undefined && contact.external_id === undefined) {
    details.push({ path: 'contact', message: 'needs an external_id or an email' })
  }
  const externalId = contact?.external_id ?? null
  const isNobody = externalId !== null && namesNobody(externalId, ignored)
  if (isNobody && email === null) details.push(nobodyDetail('contact.external_id', externalId))
  else if (isNobody) warnings.push(ignoredId('contact.external_id', externalId))
  // Each names one conversation or message of the tool: what several share would join or lose those of strangers.
  const ids = [
    ['thread_key', thread_key],
    ...messages.map((each, at) => [`messages[${at}].message_id`, each.message_id]),
  ]
  for (const [path = '', id = ''] of ids) {
    if (namesNobody(id, NONE_IGNORED))
      details.push({
        path,
        message: `${JSON.stringify(id)} names nothing (ignored_id). Send the id that your tool has for it`,
      })
  }
  const timestamps = messages.map(({ sent_at }, index) => timestampOf(sent_at, `messages[${index}].sent_at`, details))
  if (details.length > 0) return validationError(details)
  const known = contact ? { address: email, externalId: isNobody ? null : externalId } : null
  return messages.map((message, index) => {
    const isInbound = message.direction === 'inbound'
    const to = message.to.map((person) => participantOf(person, isInbound ? null : known))
    return {
      channel: 'chat',
      source,
      messageId: message.message_id,
      threadKey: thread_key,
      inReplyTo: null,
      references: [],
      subject: subject ?? null,
      from: participantOf(message.from, isInbound ? known : null),
      to: to.length === 0 && known && !isInbound ? [{ ...known, name: null }] : to,
      cc: [],
      sentAt: timestamps[index] ?? new Date(Number.NaN),
      direction: message.direction,
      text: message.text,
      html: message.html ?? null,
      attachments: [],
      identityId: null,
    }
  })
}

/** Converts a person. A person without an address is the record's contact, if there is one. */
function participantOf({ address, name }: Type.Static<typeof Person>, contact: Omit<Participant, 'name'> | null) {
  const isContact = contact !== null && (!address || parseEmail(address) === contact.address)
  return isContact ? { ...contact, name: name ?? null } : { address: address ?? null, name: name ?? null }
}

function timestampOf(text: string, path: string, details: ErrorDetail[]): Date | null {
  const timestamp = parseTimestamp(text)
  if (timestamp === null) details.push({ path, message: `must be ${TIMESTAMP_FORM}` })
  return timestamp
}
