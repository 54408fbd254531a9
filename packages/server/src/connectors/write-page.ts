import { forgetSourceCompanies, writeSourceCompanies } from '../companies/source-companies.ts'
import { type MergeServices, mergeContacts } from '../contacts/merging/merge.ts'
import { contactsOfSource } from '../contacts/writing/keys.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { recordMessages } from '../conversations/record.ts'
import { knownEventIds, type LookupRange } from '../events/read.ts'
import { eventIdOf } from '../journal/sent-ids.ts'
import { anyVersion } from '../operations/etag.ts'
import { parseEmail } from '../platform/email.ts'
import { ServiceError } from '../platform/errors.ts'
import { IGNORED_ID, ignoredId, isIgnoredId, namesNobody } from '../platform/ids-of-nobody.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS, parseTimestamp } from '../platform/time.ts'
import type { CallSender, RecordCalls } from '../sites/ingestion/record-calls.ts'
import { type IncomingRecord, MalformedAddress } from '../sources/incoming-record.ts'
import { removeSourceRecords } from '../sources/remove-records.ts'
import { namedRecord, parseRecord } from '../sources/requests.ts'
import { writeRecords } from '../sources/write-records.ts'
import { type KnownRead, storedHere } from './activities/outbox.ts'
import type { ContactRecord, RecordsPage, SourceCall } from './connector.ts'
import { malformedEmail, type Writer, writeProfiles } from './write-profiles.ts'

/** Limits the size of transactions, and the number of calls that are recorded together. */
const RECORDS_PER_WRITE = 100
const CALLS_PER_WRITE = 500
/** How far an event's time may have shifted since it was recorded, for example after a change of the time zone setting. */
const TIME_CHANGE_MS_MAX = 2 * DAY_MS
const SERVICE = { kind: 'service' } as const

export interface PageServices extends MergeServices, WriteServices {
  recordCalls: RecordCalls
  /** The same for history, which causes no webhook deliveries. */
  recordHistory: RecordCalls
}

/** A record that could not be written, or that was written without an id that names nobody (`ignored_id`). */
export interface RecordError {
  externalId: string
  code: string
  message: string
}

/** The result of a page: the number of records by status, and what people should see of single records. */
export interface PageResult {
  counts: Record<string, number>
  errors: RecordError[]
}

/**
 * Writes a page. Writing it again changes nothing.
 * @param isHistory whether its events are history, which causes no webhook deliveries.
 */
export async function writePage(
  tenant: Tenant,
  services: PageServices,
  writer: Writer,
  page: RecordsPage,
  isHistory: boolean,
): Promise<PageResult> {
  const result: PageResult = { counts: {}, errors: [] }
  const ignored = await services.findIgnoredIds(tenant)
  const computed = await services.findComputedNames(tenant)
  const companies = (page.companies ?? []).filter(({ externalId }) => {
    const isNobody = namesNobody(externalId, ignored)
    if (isNobody) fail(result, externalId, 'validation_error', ignoredId('external_id', externalId))
    return !isNobody
  })
  for (const some of inParts(companies, RECORDS_PER_WRITE)) {
    const written = await writeSourceCompanies(tenant, writer.source, some, computed.companies, services.clock())
    note(
      result,
      some.map(({ externalId }) => externalId),
      written,
    )
  }
  for (const some of inParts(page.contacts ?? [], RECORDS_PER_WRITE)) {
    const records = some.map((record) => {
      const warnings: string[] = []
      const named = namedRecord(toRecord(record), ignored, warnings)
      warn(result, record.external_id, warnings)
      return named
    })
    const written = await writeRecords(tenant, services, writer, records)
    note(
      result,
      some.map(({ external_id }) => external_id),
      written,
    )
  }
  for (const { from, into } of page.merged ?? []) await merge(tenant, services, writer, { from, into }, result)
  const deleted = await removeSourceRecords(tenant, services, writer, page.deleted ?? [])
  const forgotten = await forgetSourceCompanies(tenant, writer.source, page.deletedCompanies ?? [])
  if (deleted + forgotten > 0) add(result, 'deleted', deleted + forgotten)
  for (const some of inParts(page.profiles ?? [], RECORDS_PER_WRITE)) {
    const written = await writeProfiles(tenant, services, writer, some)
    note(
      result,
      some.map(({ id }) => id),
      written,
    )
  }
  for (const some of inParts(page.calls ?? [], CALLS_PER_WRITE)) {
    const resolved = await resolveCalls(tenant, writer, some)
    const calls = await withoutOwn(tenant, writer, resolved)
    if (calls.length < resolved.length) add(result, 'unchanged', resolved.length - calls.length)
    await record(tenant, services, writer, calls, isHistory, result)
  }
  for (const sent of page.conversations ?? []) {
    const messages = sent.map((message) => ({ ...message, source: writer.source }))
    for (const { status } of await recordMessages(tenant, services, messages)) add(result, status, 1)
  }
  return result
}

/** A blank address counts as none; a malformed one is the record's error. */
function toRecord({ company_id, email: sentEmail, ...record }: ContactRecord): IncomingRecord | ServiceError {
  const email = sentEmail?.trim() ?? ''
  if (email !== '' && parseEmail(email) === null) {
    const said = parseRecord(record)
    return said instanceof ServiceError ? malformedEmail(email) : new MalformedAddress(malformedEmail(email), said)
  }
  const parsed = parseRecord({ ...record, ...(email === '' ? {} : { email }) })
  return parsed instanceof ServiceError ? parsed : { ...parsed, companyKey: company_id ?? null }
}

/** Merges the contacts here too, unless both ids already belong to the same contact. */
async function merge(
  tenant: Tenant,
  services: PageServices,
  { source }: Writer,
  { from, into }: { from: string; into: string },
  result: PageResult,
): Promise<void> {
  const contacts = await contactsOfSource(tenant, source, [from, into])
  const [contactId, survivorId] = [contacts.get(from), contacts.get(into)]
  if (contactId === undefined || survivorId === undefined || contactId === survivorId) return
  try {
    await mergeContacts(tenant, services, { contactId, into: survivorId }, SERVICE, anyVersion)
    add(result, 'merged', 1)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status === 503) throw error
    fail(result, from, error.code, `Not merged into ${into}: ${error.message}`)
  }
}

/** Adds the contacts and the event ids to the calls. A call about an unknown contact fails. */
async function resolveCalls(
  tenant: Tenant,
  { source, sourceId }: Writer,
  calls: readonly SourceCall[],
): Promise<SourceCall[]> {
  const named = calls.flatMap(({ contact }) => contact ?? [])
  const contacts = await contactsOfSource(tenant, source, named)
  return calls.map(({ contact, ...sent }) => {
    const { id, call } = sent
    if (call instanceof ServiceError) return sent
    const event = call.event && {
      ...call.event,
      sentId: call.event.sentId ?? eventIdOf(sourceId, `${call.event.event} ${id}`),
    }
    if (contact === undefined) return { ...sent, call: { ...call, event } }
    const contactId = contacts.get(contact)
    if (contactId !== undefined) return { ...sent, call: { ...call, contactId, event } }
    return {
      ...sent,
      call: new ServiceError(404, 'unknown_contact', `The contact ${contact} that it refers to does not exist here.`),
    }
  })
}

/** Leaves out the activities that the service itself has stored in the system: they are known as what they are here. */
async function withoutOwn(tenant: Tenant, { source }: Writer, calls: readonly SourceCall[]): Promise<SourceCall[]> {
  const read = calls.flatMap((each): KnownRead[] => {
    const contactId = contactOf(each)
    if (!each.activity || each.call instanceof ServiceError || contactId === null) return []
    return [{ ...each.activity, contactId, timestamp: each.call.event?.timestamp }]
  })
  const own = await storedHere(tenant, source, read)
  return calls.filter(({ activity }) => activity === undefined || !own.has(activity.id))
}

/** Event ids are remembered for a day. Older ones are looked up, so that a repeated read creates no duplicates. */
async function record(
  tenant: Tenant,
  services: PageServices,
  { sourceId }: Writer,
  sent: readonly SourceCall[],
  isHistory: boolean,
  result: PageResult,
): Promise<void> {
  const known = await knownIds(tenant, sent)
  const calls = sent.filter((each) => !known.has(idOf(each) ?? ''))
  if (calls.length < sent.length) add(result, 'unchanged', sent.length - calls.length)
  if (calls.length === 0) return
  const sender: CallSender = { sourceId, trust: 'verified', page: null }
  const recordCalls = isHistory ? services.recordHistory : services.recordCalls
  const written = await recordCalls(
    tenant,
    sender,
    calls.map(({ call }) => call),
  )
  note(
    result,
    calls.map(({ id }) => id),
    written,
  )
}

/**
 * The ids of events that were recorded before. An activity is looked up among the events of its contact, because a meeting
 * may have been moved by months, and an event of a deal among those of all deals, because it may have got another contact and
 * another time. Other events are looked up by their times.
 */
async function knownIds(tenant: Tenant, sent: readonly SourceCall[]): Promise<Set<string>> {
  const events = sent.filter((each) => idOf(each) !== null)
  const groups = Map.groupBy(events, (each) => {
    if (each.isOfDeal) return 'of deals'
    if (contactOf(each) !== null) return 'of contacts'
    return Number.isNaN(timeOf(each)) ? 'without a time' : 'at a time'
  })
  const known = new Set<string>()
  for (const [kind, group] of groups) {
    const ids = group.flatMap((each) => idOf(each) ?? [])
    for (const id of await knownEventIds(tenant, ids, lookupRangeOf(kind, group))) known.add(id)
  }
  return known
}

function lookupRangeOf(kind: string, group: readonly SourceCall[]): LookupRange | null {
  if (kind === 'of deals') return { events: group.flatMap((each) => nameOf(each) ?? []) }
  if (kind === 'of contacts') return { contactIds: group.flatMap((each) => contactOf(each) ?? []) }
  if (kind === 'without a time') return null
  const times = group.map(timeOf)
  return {
    between: [new Date(Math.min(...times) - TIME_CHANGE_MS_MAX), new Date(Math.max(...times) + TIME_CHANGE_MS_MAX)],
  }
}

function idOf({ call }: SourceCall): string | null {
  return call instanceof ServiceError ? null : (call.event?.sentId ?? null)
}

function nameOf({ call }: SourceCall): string | null {
  return call instanceof ServiceError ? null : (call.event?.event ?? null)
}

function contactOf({ call }: SourceCall): string | null {
  return call instanceof ServiceError ? null : call.contactId
}

/** In milliseconds since 1970; NaN if the event has no time. */
function timeOf({ call }: SourceCall): number {
  if (call instanceof ServiceError || !call.event) return Number.NaN
  const { timestamp = '', clockCorrection } = call.event
  return (parseTimestamp(timestamp)?.getTime() ?? Number.NaN) + clockCorrection
}

function fail(result: PageResult, externalId: string, code: string, message: string): void {
  add(result, 'failed', 1)
  result.errors.push({ externalId, code, message })
}

/** Shows the ids that were ignored. Each is shown once, because an export may have it in every line. */
function warn({ errors }: PageResult, externalId: string, warnings: readonly string[]): void {
  for (const message of warnings) {
    if (!isIgnoredId(message) || errors.some((error) => error.code === IGNORED_ID && error.message === message))
      continue
    errors.push({ externalId, code: IGNORED_ID, message })
  }
}

type Written = { status: string; error?: { code: string; message: string }; warnings?: readonly string[] }

function note(result: PageResult, externalIds: readonly string[], written: readonly Written[]): void {
  for (const [index, { status, error, warnings = [] }] of written.entries()) {
    const externalId = externalIds[index] ?? ''
    add(result, status, 1)
    if (error) result.errors.push({ externalId, ...error })
    warn(result, externalId, warnings)
  }
}

function add({ counts }: PageResult, status: string, count: number): void {
  counts[status] = (counts[status] ?? 0) + count
}

function* inParts<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
