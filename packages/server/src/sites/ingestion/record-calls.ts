import type { FindIdentificationKeys } from '../../access/identification-settings.ts'
import type { FirstTouch } from '../../contacts/writing/first-touch.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import { EVENT_NAME_LENGTH_MAX, type EventGroup, type EventRecord } from '../../journal/event-record.ts'
import type { GroupCommit } from '../../journal/group-commit.ts'
import { senderOfSource } from '../../journal/sent-ids.ts'
import { firstCharacters, hasMoreCharacters } from '../../platform/characters.ts'
import { type ErrorDetail, ServiceError, validationError } from '../../platform/errors.ts'
import { type Failure, failure } from '../../platform/http/records.ts'
import { type IgnoredIds, unlessNobody } from '../../platform/ids-of-nobody.ts'
import type { PlaceOf } from '../../platform/places.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { SourceUsage } from '../../sources/usage.ts'
import type { ClientHints } from '../track/client-hints.ts'
import type { UserAgent } from '../track/user-agent.ts'
import { type Call, type CallEvent, EMPTY_CALL, isNamed } from './call.ts'
import { browserOf, type Problem, toRecord } from './event-fields.ts'
import { type Identified, identifyPeople, type SenderTrust } from './identify-people.ts'
import { findPeople } from './people.ts'
import { createEventRecorder } from './record-events.ts'

const DEVICE_LENGTH_MAX = 200
const NOT_SIGNED = 'Ignored the identification: signed identification is required. Send a signed identify to /track.'

/** Who sends calls. */
export interface CallSender {
  /** null: an API key. */
  sourceId: string | null
  trust: SenderTrust
  /** The page that sends them; null for a server, whose events are never a bot's. */
  page: { host: string | null; address: string; hints: ClientHints | null } | null
}

/** The result of a call. `eventId` is null if it has no event, `contactId` if its person is an anonymous visitor. */
export type CallResult =
  | { status: 'accepted'; eventId: string | null; contactId: string | null; warnings: string[] }
  | Failure

/**
 * Records calls of one sender. A call that fails writes nothing and does not affect the others. When it returns, the
 * accepted events are durable, and every read that starts afterwards sees them. Sending the same calls again changes
 * nothing, if their events have ids.
 * @param calls an error represents a call that was already rejected.
 * @throws ServiceError 503 if a database is unavailable. The sender should then repeat all calls.
 */
export type RecordCalls = (
  tenant: Tenant,
  sender: CallSender,
  calls: readonly (Call | ServiceError)[],
) => Promise<CallResult[]>

export interface RecorderDependencies extends WriteServices {
  groupCommit: Pick<GroupCommit, 'record'>
  sourceUsage: Pick<SourceUsage, 'note'>
  findIdentificationKeys: FindIdentificationKeys
  placeOf: PlaceOf
}

/** Creates the recorder of everything that servers and SDKs send. */
export function createCallRecorder(dependencies: RecorderDependencies): RecordCalls {
  const { sourceUsage, findIdentificationKeys, placeOf, clock } = dependencies
  const recordEvents = createEventRecorder(dependencies)

  return async (tenant, sender, calls) => {
    const at = clock()
    // Only pages can sign. A hook whose senders are unverified has its own signature, or a secret URL.
    const isPage = sender.trust === 'unverified' && sender.page !== null
    const isUnsigned = isPage && (await findIdentificationKeys(tenant.id)).requiresSignature
    const ignored = await dependencies.findIgnoredIds(tenant)
    const checked = calls.map((call) => {
      if (call instanceof ServiceError) return call
      const warnings: string[] = []
      const named = withoutNobody(call, ignored, warnings)
      return checkCall(isUnsigned ? unsigned(named, warnings) : named, warnings, { tenant, sender, placeOf, at })
    })
    const placed = checked.flatMap((each, index) => (each instanceof ServiceError ? [] : [{ index, ...each }]))
    const people = await findPeople(tenant, placed)
    const persons = await identifyPeople(tenant, dependencies, sender.trust, people, placed)
    const accepted = checked.map((each, index): Accepted | ServiceError => {
      if (each instanceof ServiceError) return each
      const person = persons.get(index) ?? ANONYMOUS
      return person instanceof ServiceError ? person : { ...each, person }
    })
    const groups = toGroups(tenant.id, sender, accepted)
    await recordEvents(tenant, groups, touchesOf(persons.values()))
    const count = groups.reduce((sum, { events }) => sum + events.length, 0)
    if (sender.sourceId !== null) sourceUsage.note({ tenantId: tenant.id, sourceId: sender.sourceId }, count)
    return accepted.map(toResult)
  }
}

/** The first touches of the contacts, as they were read or written. */
function touchesOf(persons: Iterable<Identified | ServiceError>): Map<string, FirstTouch> {
  const touches = new Map<string, FirstTouch>()
  for (const person of persons) {
    if (person instanceof ServiceError || person.contactId === null || !person.touch) continue
    touches.set(person.contactId, person.touch)
  }
  return touches
}

/** The person of an event of a visitor: its contact, if it has one, is found when the event is recorded. */
const ANONYMOUS: Identified = { contactId: null, warnings: [] }

interface Checked {
  call: Call
  /** What was ignored before its person was looked up, and why. */
  warnings: string[]
  /** Without its owner, which depends on the person. */
  record: EventRecord | null
}

interface Accepted extends Checked {
  person: Identified
}

/**
 * A call without the ids that name nobody; the rest counts. A company whose id is ignored stays if it has a domain.
 * @param warnings gets what was ignored.
 */
function withoutNobody(call: Call, ignored: IgnoredIds, warnings: string[]): Call {
  const { company, event } = call
  const before = warnings.length
  const userId = unlessNobody('the user id', call.userId, ignored, warnings)
  const visitorId = unlessNobody('the visitor id', call.visitorId, ignored, warnings)
  const previousId = unlessNobody('the previous id', call.previousId, ignored, warnings)
  const companyId = unlessNobody('the id of the company', company?.externalId ?? null, ignored, warnings)
  const sessionId = unlessNobody('the session id', event?.sessionId ?? null, ignored, warnings)
  if (warnings.length === before) return call
  const isCompanyNamed = company !== null && (companyId !== null || company.domain !== null)
  return {
    ...call,
    userId,
    visitorId,
    previousId,
    company: isCompanyNamed ? { ...company, externalId: companyId } : null,
    event: event && { ...event, sessionId },
  }
}

/** The call of a page whose tenant requires signed identification: only its visitor counts. */
function unsigned(call: Call, warnings: string[]): Call {
  if (!isNamed(call)) return call
  warnings.push(NOT_SIGNED)
  return { ...EMPTY_CALL, visitorId: call.visitorId, event: call.event }
}

/** What the events of a request have in common. */
interface Receiving {
  tenant: Tenant
  sender: CallSender
  placeOf: PlaceOf
  at: Date
}

/** Checks what the sender's format does not guarantee. @returns the call with its event as it will be stored, or why it fails. */
function checkCall(call: Call, warnings: string[], receiving: Receiving): Checked | ServiceError {
  if (!isNamed(call) && call.visitorId === null) {
    const needed = 'needs a person: contact_id, user_id, email or visitor_id'
    return validationError([{ path: 'the record', message: [needed, ...warnings].join('. ') }])
  }
  if (call.event === null) return { call, warnings, record: null }
  const details: ErrorDetail[] = []
  const record = toEvent(call.event, call.visitorId ?? '', receiving, (path, message) =>
    details.push({ path, message }),
  )
  return details.length > 0 ? validationError(details) : { call, warnings, record }
}

function toEvent(
  event: CallEvent,
  visitorId: string,
  { tenant, sender: { page }, placeOf, at }: Receiving,
  problem: Problem,
): EventRecord {
  const isNamedWell = event.event !== '' && !hasMoreCharacters(event.event, EVENT_NAME_LENGTH_MAX)
  if (!isNamedWell) problem('event', `must be a string of 1 to ${EVENT_NAME_LENGTH_MAX} characters`)
  const { user_agent: sentUserAgent, ip } = event.context
  const browser = browserOf(typeof sentUserAgent === 'string' ? sentUserAgent : '', page?.hints)
  const userAgent = withDevice(browser.userAgent, event.device)
  const received = {
    ...browser,
    tenantId: tenant.id,
    visitorId,
    sessionId: event.sessionId ?? '',
    at,
    pageHost: page?.host ?? null,
    // A server's own user agent says nothing about the person.
    userAgent: page === null ? { ...userAgent, isBot: false } : userAgent,
    // Nor does its address.
    place: event.place ?? placeOf(typeof ip === 'string' ? ip : (page?.address ?? '')),
  }
  return toRecord(event, { ...event, received }, problem)
}

/** The sender's description of the device takes precedence over its user agent. */
function withDevice(userAgent: UserAgent, device: CallEvent['device']): UserAgent {
  if (!device) return userAgent
  const { browser, os, deviceType } = device
  return {
    browser: firstCharacters(browser, DEVICE_LENGTH_MAX) || userAgent.browser,
    os: firstCharacters(os, DEVICE_LENGTH_MAX) || userAgent.os,
    deviceType: firstCharacters(deviceType, DEVICE_LENGTH_MAX) || userAgent.deviceType,
    isBot: userAgent.isBot,
  }
}

/** One group for the events of known contacts, and one for those of each anonymous visitor. */
function toGroups(
  tenantId: string,
  { sourceId }: CallSender,
  accepted: readonly (Accepted | ServiceError)[],
): EventGroup[] {
  const sender = senderOfSource(sourceId)
  const groups = new Map<string | null, EventGroup>()
  for (const each of accepted) {
    if (each instanceof ServiceError || each.record === null) continue
    const { call, record, person } = each
    const { contactId } = person
    const visitorId = contactId === null ? call.visitorId : null
    const group = groups.get(visitorId) ?? { tenantId, visitorId, sender, events: [], sentIds: [] }
    groups.set(visitorId, group)
    if (contactId !== null) Object.assign(record, { owner_id: contactId, is_anonymous: false })
    group.events.push(record)
    const sentId = call.event?.sentId ?? null
    if (sentId !== null) group.sentIds.push({ event: record, id: sentId })
  }
  return [...groups.values()]
}

function toResult(each: Accepted | ServiceError): CallResult {
  if (each instanceof ServiceError) return failure(each)
  const { contactId, warnings } = each.person
  const eventId = each.record?.event_id ?? null
  return { status: 'accepted', eventId, contactId, warnings: [...each.warnings, ...warnings] }
}
