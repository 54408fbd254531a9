import { companyOfWrite } from '../companies/write.ts'
import { changeContact } from '../contacts/writing/change.ts'
import type { ContactSet, ContactState } from '../contacts/writing/contact-set.ts'
import { contactsOfSource } from '../contacts/writing/keys.ts'
import { isUnverified } from '../contacts/writing/source-trust.ts'
import type { CompanyOfWrite } from '../contacts/writing/write.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { eventIdOf } from '../journal/sent-ids.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'
import type { CallSender, RecordCalls } from '../sites/ingestion/record-calls.ts'
import type { Source } from '../sources/apply-records.ts'
import { noteConnector } from '../sources/connectors.ts'
import { MalformedAddress } from '../sources/incoming-record.ts'
import { writeOptOutsOfUser } from '../sources/write-opt-outs.ts'
import { writeRecords } from '../sources/write-records.ts'
import type { Mapped, MappedCompany, MappedContact, MappedEvent } from './apply-mapping.ts'
import { type ClaimedBody, type Outcome, recordedBefore } from './bodies.ts'
import type { HookRow } from './hook-object.ts'
import { type HookKind, sourceKindOf } from './kinds.ts'

/** The services for recording a body. */
export interface RecordServices extends WriteServices {
  recordCalls: RecordCalls
}

export const NOTHING: Omit<Outcome, 'state'> = {
  error_code: null,
  error_message: null,
  event: null,
  event_id: null,
  event_key: null,
  contact_id: null,
  contact_status: null,
  company_id: null,
  outcome_warnings: [],
}

/**
 * Writes the records that a mapping created from a body: the contact and the company as the hook's source, then the event.
 * Writing them again changes nothing, because an event is recorded once per name and id, or once per body.
 * @throws ServiceError if a record cannot be written; 503 if a database is unavailable.
 */
export async function recordMapped(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  body: ClaimedBody,
  { contact, company, event, warnings }: Mapped,
): Promise<Outcome> {
  const source = await sourceOf(tenant, services, hook)
  const written =
    contact === null
      ? { contactId: null, status: null, companyId: await writeCompany(tenant, services, source, company, body) }
      : contact.user_id === null
        ? await writeContact(tenant, services, source, contact, company, body)
        : await writeUser(tenant, services, hook, source, { ...contact, user_id: contact.user_id }, company, body)
  const outcome: Outcome = {
    ...NOTHING,
    state: 'recorded',
    contact_id: written.contactId,
    contact_status: written.status,
    company_id: written.companyId,
    outcome_warnings: warnings,
  }
  if (event === null || written.contactId === null) return outcome
  const key = eventIdOf(hook.source_id, JSON.stringify(event.id === null ? [body.bodyId] : [event.name, event.id]))
  const named = { ...outcome, event: event.name, event_key: key }
  // The journal remembers ids for a day, and the kept bodies remember theirs as long as they are kept.
  if (body.eventKey === key) return { ...named, event_id: body.eventId }
  const known = await recordedBefore(tenant, hook.hook_id, body.bodyId, key)
  const eventId = known ?? (await recordEvent(tenant, services, hook, written.contactId, key, event, body))
  return { ...named, event_id: eventId }
}

/** Writes the opt-outs of a body whose address is malformed, to the contact that its ids already name. */
export async function recordOptOuts(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  body: ClaimedBody,
  error: MalformedAddress,
): Promise<void> {
  const source = await sourceOf(tenant, services, hook)
  const said = { ...error.said, at: body.writesAt }
  if (error.userId !== null) await writeOptOutsOfUser(tenant, services, source, error.userId, said)
  await writeRecords(tenant, services, source, [new MalformedAddress(error, said)])
}

/** The hook's source. A push under the name of a custom hook may have set another kind. */
async function sourceOf(tenant: Tenant, { clock }: RecordServices, hook: HookRow): Promise<Source> {
  const own = sourceKindOf(hook.kind as HookKind)
  // Values that anyone may have typed stay unverified.
  const kind = await noteConnector(tenant, hook.source, own === 'form' ? own : undefined, clock(), own)
  return { source: hook.source, kind, isPartial: true }
}

interface Written {
  contactId: string
  status: 'created' | 'updated' | 'unchanged'
  companyId: string | null
}

/** Writes a contact that is identified by its email or the sender's id. */
async function writeContact(
  tenant: Tenant,
  services: RecordServices,
  source: Source,
  contact: MappedContact,
  company: MappedCompany | null,
  body: ClaimedBody,
): Promise<Written> {
  const { email, external_id: externalId, properties } = contact
  if (email === null && externalId !== null) await requireKnown(tenant, source, externalId)
  const record = { externalId, email, properties, at: body.writesAt, companyDomain: company?.domain ?? null }
  let companyId: string | null = null
  const [result] = await writeRecords(tenant, services, source, [record], async (tx, { results }) => {
    const isWritten = results[0]?.status !== 'failed'
    const write = company && isWritten ? writeOfCompany(source, company, body) : null
    const { companies: computed } = await services.findComputedNames(tx)
    companyId = write && (await write.write(tx, services.clock(), computed)).companyId
  })
  const { status, contactId } = orThrow(result)
  return { contactId, status, companyId }
}

/**
 * The sender's id alone does not create a contact. A later body with an email might then belong to another contact.
 * @throws ServiceError 400 `hook_no_person`
 */
async function requireKnown(tenant: Tenant, { source }: Source, externalId: string): Promise<void> {
  const known = await contactsOfSource(tenant, source, [externalId])
  if (known.size > 0) return
  const message =
    'The body has only external_id, and no earlier body linked that id to a contact. Run it again once a body with an email has arrived.'
  throw new ServiceError(400, 'hook_no_person', message)
}

/** Writes a contact that is identified by the tenant's own id, like an identification by any verified sender. */
async function writeUser(
  tenant: Tenant,
  services: RecordServices,
  hook: HookRow,
  source: Source,
  { user_id: userId, email, external_id: externalId, properties }: MappedContact & { user_id: string },
  company: MappedCompany | null,
  body: ClaimedBody,
): Promise<Written> {
  const startedAt = services.clock()
  const trust = isUnverified(source.kind) ? 'unverified' : 'verified'
  const [named] = await services.recordCalls(tenant, senderOf(hook, trust), [{ ...EMPTY_CALL, userId, email }])
  const { contactId } = orThrow(named)
  if (contactId === null) throw new Error('a call with a user id has no contact')
  return services.writer.write(tenant, {
    keys: {
      contactIds: [contactId],
      ...(externalId === null ? {} : { ofSource: { source: source.source, externalIds: [externalId] } }),
    },
    company: company && writeOfCompany(source, company, body),
    apply(set, { now, company: written }) {
      const state = set.contact(contactId)
      if (!state) throw new ServiceError(409, 'contact_changed', 'The contact has been deleted. Run the body again.')
      const before = state.row
      const companyId = written?.companyId ?? null
      const write = {
        ...source,
        properties,
        ...(body.writesAt === null ? {} : { at: body.writesAt }),
        ...(externalId !== null && isFree(set, source, externalId, state) ? { externalId } : {}),
        ...(companyId !== null && before.company_id === null ? { companyId } : {}),
      }
      changeContact(set, state, write, now)
      const isNew = before.created_at >= startedAt
      return { contactId, status: isNew ? 'created' : state.row === before ? 'unchanged' : 'updated', companyId }
    },
  })
}

/** Whether no other contact has the sender's id. An id is never moved to another contact. */
function isFree(set: ContactSet, { source }: Source, externalId: string, state: ContactState): boolean {
  return (set.find('source', externalId, source) ?? state) === state
}

async function writeCompany(
  tenant: Tenant,
  services: RecordServices,
  source: Source,
  company: MappedCompany | null,
  body: ClaimedBody,
): Promise<string | null> {
  if (company === null) return null
  return services.writer.write(tenant, {
    keys: {},
    company: writeOfCompany(source, company, body),
    apply: (_set, { company: written }) => written?.companyId ?? null,
  })
}

function writeOfCompany(
  { kind }: Source,
  { domain, name, properties }: MappedCompany,
  { isLate, writesAt }: ClaimedBody,
): CompanyOfWrite {
  const data = { domain, externalId: null, ...(name === null ? {} : { name }), properties }
  // Only for a late body: of two that arrive together, the second would seem older than the write of the first.
  const asOf = isLate ? writesAt : null
  return companyOfWrite(data, { isVerified: !isUnverified(kind), asOf })
}

async function recordEvent(
  tenant: Tenant,
  { recordCalls }: RecordServices,
  hook: HookRow,
  contactId: string,
  sentId: string,
  { name, timestamp, url, data }: MappedEvent,
  { receivedAt }: ClaimedBody,
): Promise<string | null> {
  const event = {
    event: name,
    timestamp: timestamp ?? receivedAt.toISOString(),
    ...(url === null ? {} : { url }),
    data,
    sentId,
    sessionId: null,
    context: {},
    clockCorrection: 0,
  }
  const [result] = await recordCalls(tenant, senderOf(hook, 'verified'), [{ ...EMPTY_CALL, contactId, event }])
  return orThrow(result).eventId
}

function senderOf({ source_id: sourceId }: HookRow, trust: CallSender['trust']): CallSender {
  return { sourceId, trust, page: null }
}

/** @throws ServiceError if the record failed. */
function orThrow<Result extends { status: string }>(result: Result | Failure | undefined): Exclude<Result, Failure> {
  if (result === undefined) throw new Error('a record has no result')
  if (result.status !== 'failed') return result as Exclude<Result, Failure>
  const { code, message } = (result as Failure).error
  throw new ServiceError(400, code, message)
}

/** The outcome of a body that could not be recorded. */
export function failedOutcome(error: ServiceError): Outcome {
  const { code, message } = failure(error).error
  return { ...NOTHING, state: 'failed', error_code: code, error_message: message }
}
