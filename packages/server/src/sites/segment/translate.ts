import { EVENT_TEXT_LENGTH_MAX } from '../../journal/event-record.ts'
import { eventIdOf } from '../../journal/sent-ids.ts'
import { firstCharacters, hasMoreCharacters } from '../../platform/characters.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { flawsOf } from '../../platform/http/body-parts.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { ignoredId, NONE_IGNORED, unlessNobody } from '../../platform/ids-of-nobody.ts'
import { isObject } from '../../platform/is-object.ts'
import { parseTimestamp, sinceEpoch } from '../../platform/time.ts'
import { type Call, type CallEvent, EMPTY_CALL } from '../ingestion/call.ts'
import { correctionOfClock } from '../ingestion/event-fields.ts'
import { campaignOf, contextOf } from './context.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'
import { groupOf, idOf, personOf } from './people.ts'

export const CALL_TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const
export type CallType = (typeof CALL_TYPES)[number]

const CALL_BYTES_MAX = 32 * 1024
const EVENT_OF_TYPE = { page: 'page_view', screen: 'screen_view' } as const

/** A request with calls, and what all of them share. */
export interface Sending {
  sourceId: string
  receivedAt: Date
  /** When the SDK sent the request, by its own clock. */
  sentAt: unknown
  /** The User-Agent of a browser; '' if the sender is a server. */
  userAgent: string
  /** Whether a browser sent it: then every time in it is by a clock that may be wrong. */
  isBrowser: boolean
}

/** A call in the service's own form. */
export interface Translated {
  call: Call
  /** The parts that were left out, and why. */
  warnings: string[]
}

/**
 * Translates a call of an SDK.
 * @param type the type in its path; null if the call contains it.
 * @throws ServiceError 400 that names every problem with this call.
 */
export function translate(sent: unknown, type: CallType | null, sending: Sending): Translated {
  if (!isObject(sent)) throw validationError([{ path: '', message: 'must be an object' }])
  const flaws = flawsOf(sent)
  if (flaws.length > 0) throw validationError([...flaws])
  const bytes = Buffer.byteLength(JSON.stringify(sent))
  if (bytes > CALL_BYTES_MAX) {
    const message = `has ${bytes} bytes of JSON, but at most ${CALL_BYTES_MAX} are allowed`
    throw validationError([{ path: '', message }])
  }
  const callType = type ?? typeOf(sent)
  const warnings = warningsOfIds(sent, callType)
  const call: Call = {
    ...EMPTY_CALL,
    ...personOf(sent, callType === 'identify' ? fieldsOf(sent.traits) : {}, warnings),
    company: callType === 'group' ? groupOf(sent, warnings) : null,
    previousId: callType === 'alias' ? idOf(sent.previousId) : null,
    event: eventOf(callType, sent, sending, warnings),
  }
  const problems = problemsOf(callType, call)
  if (problems.length > 0) throw validationError(problems)
  return { call, warnings }
}

function typeOf({ type }: Fields): CallType {
  const known = CALL_TYPES.find((name) => name === type)
  if (known) return known
  throw validationError([{ path: 'type', message: `must be one of ${CALL_TYPES.join(', ')}` }])
}

/** Warns about ids that are no text, such as an object. SDKs send `''` and null if there is none. */
function warningsOfIds(sent: Fields, type: CallType): string[] {
  const names = [
    'userId',
    'anonymousId',
    ...(type === 'alias' ? ['previousId'] : []),
    ...(type === 'group' ? ['groupId'] : []),
  ]
  return names.flatMap((name) => {
    const id = sent[name] ?? ''
    if (id === '' || idOf(id) !== null) return []
    return [ignoredId(name, typeof id === 'string' ? id : JSON.stringify(id))]
  })
}

function problemsOf(type: CallType, { userId, email, visitorId, company, previousId }: Call): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const isNobody = userId === null && visitorId === null && email === null
  if (isNobody) problems.push({ path: 'userId', message: 'is required, unless anonymousId is sent' })
  const ids = { userId, anonymousId: visitorId, groupId: company?.externalId ?? null, previousId }
  for (const [path, id] of Object.entries(ids)) {
    if (id !== null && hasMoreCharacters(id, ID_LENGTH_MAX)) {
      problems.push({ path, message: `must be at most ${ID_LENGTH_MAX} characters` })
    }
  }
  if (type === 'group' && company === null) problems.push({ path: 'groupId', message: 'is required' })
  if (type === 'alias' && previousId === null) problems.push({ path: 'previousId', message: 'is required' })
  return problems
}

function eventOf(type: CallType, sent: Fields, sending: Sending, warnings: string[]): CallEvent | null {
  if (type !== 'track' && type !== 'page' && type !== 'screen') return null
  const context = fieldsOf(sent.context)
  const page = fieldsOf(context.page)
  const properties = fieldsOf(sent.properties)
  const name = type === 'track' ? '' : textOf(sent.name)
  const category = type === 'track' ? '' : textOf(sent.category)
  const messageId = unlessNobody('messageId', idOf(sent.messageId), NONE_IGNORED, warnings)
  return {
    event: type === 'track' ? textOf(sent.event).trim() : EVENT_OF_TYPE[type],
    ...timeOf(sent, sending, warnings),
    url: urlOrTitle(textOf(properties.url) || textOf(page.url)),
    title: urlOrTitle(textOf(properties.title) || textOf(page.title) || name),
    referrer: urlOrTitle(textOf(properties.referrer) || textOf(page.referrer)),
    data: {
      ...campaignOf(context),
      ...(name === '' ? {} : { name }),
      ...(category === '' ? {} : { category }),
      ...properties,
    },
    sentId: messageId === null ? null : eventIdOf(sending.sourceId, messageId),
    sessionId: firstCharacters(textOf(context.sessionId), ID_LENGTH_MAX) || null,
    context: contextOf(context, sending.userAgent),
  }
}

function urlOrTitle(text: string): string | undefined {
  return text === '' ? undefined : firstCharacters(text, EVENT_TEXT_LENGTH_MAX)
}

/**
 * When it happened, and the correction of the sender's clock. A `timestamp` is explicit, so it is preferred, and only a
 * browser's is corrected: a server may send the time of something that happened years ago. `originalTimestamp` is the
 * sender's clock at the time of the call. An invalid time must not lose the call.
 */
function timeOf(sent: Fields, sending: Sending, warnings: string[]): Pick<CallEvent, 'timestamp' | 'clockCorrection'> {
  const explicit = timeIn(sent.timestamp)
  const original = timeIn(sent.originalTimestamp)
  if (explicit !== null) {
    return { timestamp: explicit, clockCorrection: sending.isBrowser ? correctionOf(sent, sending) : 0 }
  }
  const replacement = original === null ? 'the time of receipt' : 'originalTimestamp'
  if (textOf(sent.timestamp) !== '' || (textOf(sent.originalTimestamp) !== '' && original === null)) {
    warnings.push(
      `timestamp was replaced by ${replacement}: it is not a time. Send ISO 8601, or seconds or milliseconds since 1970.`,
    )
  }
  return original === null
    ? { timestamp: undefined, clockCorrection: 0 }
    : { timestamp: original, clockCorrection: correctionOf(sent, sending) }
}

/** Seconds or milliseconds since 1970, both from 1973: fewer digits may be a year or a day, such as 20250301. */
const SECONDS = /^\d{9,10}(\.\d{1,9})?$/
const MILLISECONDS = /^\d{12,13}(\.\d+)?$/

/**
 * A time as ISO 8601 with an offset. Programs that send history also write it without one, which is UTC, or as a number since
 * 1970: taken for invalid, it would have happened today.
 */
function timeIn(value: unknown): string | null {
  const text = textOf(value)
  if (SECONDS.test(text) || MILLISECONDS.test(text)) return sinceEpoch(Number(text))?.toISOString() ?? null
  const isWhole = text !== '' && parseTimestamp(text) !== null
  return isWhole ? text : parseTimestamp(`${text}Z`) === null ? null : `${text}Z`
}

/**
 * The correction of the sender's clock, in milliseconds to add. The time of the request is preferred to that of a call,
 * because an SDK that sends a call again does not update the call's time.
 */
function correctionOf(sent: Fields, { receivedAt, sentAt }: Sending): number {
  const clock = parseTimestamp(timeIn(textOf(sentAt) || sent.sentAt) ?? '')
  return clock === null ? 0 : correctionOfClock(clock, receivedAt)
}
