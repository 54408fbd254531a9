import { hasMoreCharacters } from '../../platform/characters.ts'
import { parseEmail } from '../../platform/email.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { isStorableText } from '../../platform/http/json-body.ts'

/** A mail to a contact. */
export interface OutgoingMail {
  identityId: string
  contactId: string
  to: string
  subject: string
  /** The body, sent as plain text and HTML. */
  markdown: string
  /** Chosen by the caller: `uuid@domain` without angle brackets. A message id is never sent twice. */
  messageId: string
  /** The message that it replies to. Message ids are without angle brackets. */
  inReplyTo?: string
  references?: readonly string[]
  /** Unsolicited mail: it gets an unsubscribe link. */
  isOutreach: boolean
}

const SUBJECT_LENGTH_MAX = 500
const MARKDOWN_LENGTH_MAX = 100_000
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,128}@[A-Za-z0-9.-]{1,120}$/
/** A message id of another program: anything that fits in angle brackets and on one line. */
const FOREIGN_ID = /^[\x21-\x3b\x3d\x3f-\x7e]{1,500}$/
const REFERENCES_MAX = 30

/**
 * Checks a mail and makes its header values safe: no line break remains.
 * @throws ServiceError 400 that names every invalid field.
 */
export function checkOutgoing(mail: OutgoingMail): OutgoingMail {
  const details: ErrorDetail[] = []
  const to = parseEmail(mail.to)
  const subject = oneLine(mail.subject)
  if (to === null) details.push({ path: 'to', message: 'is not a valid email address' })
  if (subject === '' || hasMoreCharacters(subject, SUBJECT_LENGTH_MAX) || !isStorableText(mail.subject)) {
    details.push({ path: 'subject', message: `must be a string of 1 to ${SUBJECT_LENGTH_MAX} characters` })
  }
  if (
    mail.markdown.trim() === '' ||
    hasMoreCharacters(mail.markdown, MARKDOWN_LENGTH_MAX) ||
    !isStorableText(mail.markdown)
  ) {
    details.push({ path: 'markdown', message: `must be a string of 1 to ${MARKDOWN_LENGTH_MAX} characters` })
  }
  if (!MESSAGE_ID.test(mail.messageId)) {
    details.push({ path: 'messageId', message: 'must look like uuid@example.com, without angle brackets' })
  }
  if (to === null || details.length > 0) throw validationError(details)
  const { inReplyTo, references = [], ...rest } = mail
  // References come from received mails. An invalid one is left out; the others still identify the thread.
  const parent = inReplyTo !== undefined && FOREIGN_ID.test(inReplyTo) ? { inReplyTo } : {}
  return {
    ...rest,
    to,
    subject,
    ...parent,
    references: limitReferences(references.filter((id) => FOREIGN_ID.test(id))),
  }
}

/** A subject as it is sent. */
export function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()
}

/** Keeps the first reference, which started the thread, and the latest ones. */
function limitReferences(references: readonly string[]): string[] {
  if (references.length <= REFERENCES_MAX) return [...references]
  return [...references.slice(0, 1), ...references.slice(1 - REFERENCES_MAX)]
}
