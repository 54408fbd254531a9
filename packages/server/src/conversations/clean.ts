import { createHash } from 'node:crypto'
import { firstCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import type { IncomingMessage, MessageAttachment, Participant } from './message.ts'
import { cleanHtml, textOfHtml } from './sanitise.ts'
import { subjectKey } from './subject.ts'

const TEXT_BYTES_MAX = 256 * 1024
const SUBJECT_LENGTH_MAX = 998
const NAME_LENGTH_MAX = 200
const ADDRESS_LENGTH_MAX = 254
/** An index entry must fit a third of a page. */
const KEY_BYTES_MAX = 512
const PARTICIPANTS_MAX = 500
const ATTACHMENTS_MAX = 100
/** The first reference names the beginning of a thread, the last ones its end. */
const REFERENCES_MAX = 100
const REFERENCES_FIRST = 10
const EARLIEST_MS = Date.UTC(2000, 0, 1)
/** Stands at the end of a text that was longer. */
export const TRUNCATED = '[truncated]'

/** The key that leads to a contact: an e-mail address (directory `email`), or an id in a messaging tool's directory. */
export interface ParticipantKey {
  directory: string
  key: string
}

export const EMAIL_DIRECTORY = 'email'

/** A message as it can be stored: of bounded size, without what the database cannot keep, its HTML harmless. */
export interface CleanMessage extends Omit<IncomingMessage, 'references' | 'inReplyTo' | 'isAutomatic'> {
  subjectKey: string
  /** Messages that it refers to, the nearest last. */
  links: string[]
  isAutomatic: boolean
}

/** Makes a message fit to be stored. A moment in the future is now; one before 2000, or none, is now as well. */
export async function cleanMessage(message: IncomingMessage, now: Date): Promise<CleanMessage> {
  const html = message.html === null ? null : await cleanHtml(storable(message.html))
  const text = storable(message.text)
  const subject = message.subject === null ? null : oneLine(message.subject, SUBJECT_LENGTH_MAX)
  const sentMs = message.sentAt.getTime()
  const isCredible = sentMs >= EARLIEST_MS && sentMs <= now.getTime()
  const room = PARTICIPANTS_MAX - 1
  const to = message.to.slice(0, room)
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
    cc: message.cc.slice(0, room - to.length).map(cleanParticipant),
    sentAt: isCredible ? message.sentAt : now,
    direction: message.direction,
    text: truncated(text.trim() === '' && html !== null ? await textOfHtml(html) : text),
    html,
    attachments: message.attachments.slice(0, ATTACHMENTS_MAX).map(cleanAttachment),
    identityId: message.identityId,
    isAutomatic: message.isAutomatic === true,
  }
}

/** The keys by which a participant's contact is found. */
export function keysOf({ address, externalId }: Participant, source: string): ParticipantKey[] {
  const email = address === null ? null : parseEmail(address)
  const keys = email === null ? [] : [{ directory: EMAIL_DIRECTORY, key: email }]
  return externalId ? [...keys, { directory: source, key: externalId }] : keys
}

/** A text that the database can keep: no NUL, no lone surrogate. */
export function storable(text: string): string {
  return (text.includes('\u0000') ? text.replaceAll('\u0000', '') : text).toWellFormed()
}

/** An id of a bounded length. What is too long keeps its beginning and is told apart by a digest of all of it. */
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
  const written = address === null ? '' : oneLine(address, ADDRESS_LENGTH_MAX)
  const called = name === null ? '' : oneLine(name, NAME_LENGTH_MAX)
  return {
    address: written === '' ? null : (parseEmail(written) ?? written),
    name: called === '' ? null : called,
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

/** Header values are one line: whatever stood in them, nothing that is made of them later has a second one. */
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

/** The beginning of a text, at most so many bytes of UTF-8, no character cut in two. */
function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  let end = Math.min(bytesMax, bytes.length)
  // A byte that begins with the bits 10 continues a character.
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString('utf8')
}
