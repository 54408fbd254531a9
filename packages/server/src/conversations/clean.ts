import { createHash } from 'node:crypto'
import { firstCharacters } from '../platform/characters.ts'
import { ADDRESS_LENGTH_MAX, parseEmail } from '../platform/email.ts'
import type { IncomingMessage, MessageAttachment, Participant } from './message.ts'
import { cleanHtml, textOfHtml } from './sanitize.ts'

const TEXT_BYTES_MAX = 256 * 1024
export const SUBJECT_LENGTH_MAX = 998
export const NAME_LENGTH_MAX = 200
/** An index entry must fit a third of a page. */
const KEY_BYTES_MAX = 512
const PARTICIPANTS_MAX = 500
const ATTACHMENTS_MAX = 100
/** Of more references, the first ones (the start of the thread) and the last ones (its end) are kept. */
const REFERENCES_MAX = 100
const REFERENCES_FIRST = 10
/** Messages with an earlier time have a wrong one. */
export const EARLIEST_MS = Date.UTC(2000, 0, 1)
/** Marks the end of a text that was cut. */
export const TRUNCATED = '[truncated]'

/** Identifies a contact: an email address (directory `email`), or an id in a messaging tool's directory. */
export interface ParticipantKey {
  directory: string
  key: string
}

export const EMAIL_DIRECTORY = 'email'

/** A message that is safe to store: limited in size, without characters that the database rejects, with sanitized HTML. */
export interface CleanMessage extends Omit<IncomingMessage, 'references' | 'inReplyTo' | 'isAutomatic'> {
  subjectKey: string
  /** The messages that it refers to, nearest last. */
  links: string[]
  isAutomatic: boolean
}

/** Cleans a message for storage. A time that is missing, in the future or before 2000 becomes `now`. */
export async function cleanMessage(message: IncomingMessage, now: Date): Promise<CleanMessage> {
  const html = message.html === null ? null : await cleanHtml(storable(message.html))
  const text = storable(message.text)
  const subject = message.subject === null ? null : oneLine(message.subject, SUBJECT_LENGTH_MAX)
  const sentMs = message.sentAt.getTime()
  const isCredible = sentMs >= EARLIEST_MS && sentMs <= now.getTime()
  const recipientsMax = PARTICIPANTS_MAX - 1
  const to = message.to.slice(0, recipientsMax)
  return {
    channel: message.channel,
    source: message.source,
    messageId: boundedKey(message.messageId),
    threadKey: message.threadKey === null ? null : boundedKey(message.threadKey),
    links: linksOf(message),
    subject: subject === '' ? null : subject,
    subjectKey: subjectKey(subject),
    from: cleanParticipant(message.from),
    to: to.map(cleanParticipant),
    cc: message.cc.slice(0, recipientsMax - to.length).map(cleanParticipant),
    sentAt: isCredible ? message.sentAt : now,
    direction: message.direction,
    text: truncated(text.trim() === '' && html !== null ? await textOfHtml(html) : text),
    html,
    attachments: message.attachments.slice(0, ATTACHMENTS_MAX).map(cleanAttachment),
    identityId: message.identityId,
    isAutomatic: message.isAutomatic === true,
  }
}

/** The keys that identify a participant's contact. */
export function keysOf({ address, externalId }: Participant, source: string): ParticipantKey[] {
  const email = address === null ? null : parseEmail(address)
  const keys = email === null ? [] : [{ directory: EMAIL_DIRECTORY, key: email }]
  return externalId ? [...keys, { directory: source, key: externalId }] : keys
}

/** Removes what the database rejects: NUL and lone surrogates. */
export function storable(text: string): string {
  return (text.includes('\u0000') ? text.replaceAll('\u0000', '') : text).toWellFormed()
}

const DEPTH_MAX = 32

/** A JSON value that the database accepts: texts without NUL and lone surrogates, nesting limited to 32 levels. */
export function storableTree(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storable(value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((each) => storableTree(each, depth + 1))
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__')
  return Object.fromEntries(entries.map(([key, each]) => [storable(key), storableTree(each, depth + 1)]))
}

/** Limits the length of an id. A longer id becomes its beginning and a digest, so that it stays unique. */
export function boundedKey(text: string): string {
  const key = storable(text)
  if (Buffer.byteLength(key) <= KEY_BYTES_MAX) return key
  const digest = createHash('sha256').update(key).digest('hex')
  return `${cutBytes(key, KEY_BYTES_MAX - digest.length - 1)}~${digest}`
}

function linksOf({ references, inReplyTo, messageId }: IncomingMessage): string[] {
  const all = [...new Set(inReplyTo === null ? references : [...references, inReplyTo])].filter(
    (id) => id !== '' && id !== messageId,
  )
  const kept =
    all.length <= REFERENCES_MAX
      ? all
      : [...all.slice(0, REFERENCES_FIRST), ...all.slice(REFERENCES_FIRST - REFERENCES_MAX)]
  return kept.map(boundedKey)
}

function cleanParticipant({ address, name, externalId }: Participant): Participant {
  const cleanAddress = address === null ? '' : oneLine(address, ADDRESS_LENGTH_MAX)
  const cleanName = name === null ? '' : oneLine(name, NAME_LENGTH_MAX)
  return {
    address: cleanAddress === '' ? null : (parseEmail(cleanAddress) ?? cleanAddress),
    name: cleanName === '' ? null : cleanName,
    ...(externalId ? { externalId: boundedKey(externalId) } : {}),
  }
}

function cleanAttachment({ filename, contentType, bytes }: MessageAttachment): MessageAttachment {
  return {
    filename: filename === null ? null : oneLine(filename, NAME_LENGTH_MAX),
    contentType: oneLine(contentType, NAME_LENGTH_MAX),
    bytes,
  }
}

/** Makes a header value one line, so that it cannot inject a line where it is used later. */
function oneLine(text: string, lengthMax: number): string {
  const line = storable(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return firstCharacters(line, lengthMax)
}

function truncated(text: string): string {
  if (Buffer.byteLength(text) <= TEXT_BYTES_MAX) return text
  return `${cutBytes(text, TEXT_BYTES_MAX - TRUNCATED.length - 1)}\n${TRUNCATED}`
}

/** The beginning of a string of at most `bytesMax` bytes in UTF-8, without splitting a character. */
function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  let end = Math.min(bytesMax, bytes.length)
  // A byte that starts with the bits 10 continues a character.
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString('utf8')
}

/** The reply and forward prefixes of mail programs in many languages, with counters such as `Re[2]:`, and list names. */
const PREFIX =
  /^\s*(?:(?:re|aw|antw|antwort|sv|vs|ref|rv|res|odp|ynt|r|fw|fwd|wg|tr|enc|doorst|vb|i|pd|回复|答复|回覆|转发|轉寄|返信)\s*(?:\[\d+\]|\(\d+\))?\s*[:：]\s*|\[[^\]]{1,40}\]\s*)/iu
const PREFIXES_MAX = 20
const KEY_LENGTH_MAX = 200

/**
 * The common part of a conversation's subjects: without reply prefixes and list names, in lower case, with white space
 * folded. An empty key groups no mails.
 */
export function subjectKey(subject: string | null): string {
  let rest = subject ?? ''
  for (let n = 0; n < PREFIXES_MAX; n++) {
    const shorter = rest.replace(PREFIX, '')
    if (shorter === rest) break
    rest = shorter
  }
  return rest.replace(/\s+/gu, ' ').trim().toLowerCase().slice(0, KEY_LENGTH_MAX).toWellFormed()
}
