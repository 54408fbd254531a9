import { companyOfWrite } from '../../companies/write.ts'
import { ignoredWarnings } from '../../contacts/ignored-properties.ts'
import type { PropertyChanges } from '../../contacts/properties.ts'
import { changeContact } from '../../contacts/writing/change.ts'
import type { ContactSet, ContactState } from '../../contacts/writing/contact-set.ts'
import { type FirstTouch, touch, touchOf } from '../../contacts/writing/first-touch.ts'
import { identify } from '../../contacts/writing/identify.ts'
import { linkVisitors } from '../../contacts/writing/visitors.ts'
import { unlessRefused, type Write, type WrittenCompany } from '../../contacts/writing/write.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import { type Beginning, beginningOf, earlierOf } from '../../journal/beginnings.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import { conflict, ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Call, isNamed } from './call.ts'
import { type People, unchangedContact } from './people.ts'

/** Whether a sender's statements about people are verified, because it has a secret key. */
export type SenderTrust = 'verified' | 'unverified'

/** The person of a call. */
export interface Identified {
  /** null: an anonymous visitor, or one whose contact is found when the event is recorded. */
  contactId: string | null
  /** What was ignored, and why. */
  warnings: string[]
  /** What the contact's first touch is by now. */
  touch?: FirstTouch
}

/** A call, its place in the request, and the event that it will record. */
export interface NamingCall {
  index: number
  call: Call
  record: EventRecord | null
}

const UNKNOWN_CONTACT = 'There is no contact with this contact_id.'

/**
 * Finds the contacts of some calls, creates those that a call names first, and writes properties, links and companies, in
 * the order in which the calls were sent.
 * @returns the person of each call, or why the call fails.
 */
export async function identifyPeople(
  tenant: Tenant,
  { writer }: WriteServices,
  trust: SenderTrust,
  people: People,
  placed: readonly NamingCall[],
): Promise<Map<number, Identified | ServiceError>> {
  const identified = new Map<number, Identified | ServiceError>()
  const writing: NamingCall[] = []
  /** Keys of calls that write: what was read of their people no longer holds for the calls after them. */
  const stale = new Set<string>()
  for (const each of placed) {
    const keys = keysOf(each.call)
    const known = keys.some((key) => stale.has(key)) ? null : unchanged(people, each.call, trust)
    if (!isNamed(each.call)) identified.set(each.index, anonymous(each.call))
    else if (known) identified.set(each.index, known)
    else {
      writing.push(each)
      for (const key of keys) stale.add(key)
    }
  }
  const ofVisitors = beginningsOfVisitors(people, placed)
  const beginnings = beginningsOf(writing, ofVisitors)
  const runs = runsOf(writing)
  const results = await writer.writeEach(
    tenant,
    runs.map((run) => writeOf(run, trust, beginnings.get(nameOf(run[0].call)) ?? null)),
  )
  for (const [at, run] of runs.entries()) {
    const outcome = results[at] ?? []
    for (const [place, { index }] of run.entries()) {
      const result = outcome instanceof ServiceError ? outcome : outcome[place]
      if (result) identified.set(index, result)
    }
  }
  return identified
}

function anonymous({ properties, previousId, company }: Call): Identified {
  const ignored = [
    ...(properties === null || Object.keys(properties).length === 0 ? [] : ['properties']),
    ...(previousId === null ? [] : ['the previous id']),
    ...(company === null ? [] : ['the company']),
  ]
  const why = 'the visitor is anonymous. Send a user id or an email.'
  return { contactId: null, warnings: ignored.map((what) => `Ignored ${what}: ${why}`) }
}

function keysOf({ contactId, userId, email, visitorId, previousId, company }: Call): string[] {
  return [
    ...(contactId === null ? [] : [`contact ${contactId}`]),
    ...(userId === null ? [] : [`user ${userId}`]),
    ...(email === null ? [] : [`email ${email}`]),
    ...(visitorId === null ? [] : [`visitor ${visitorId}`]),
    ...(previousId === null ? [] : [`visitor ${previousId}`]),
    ...(company?.domain ? [`domain ${company.domain}`] : []),
    ...(company?.externalId ? [`company ${company.externalId}`] : []),
  ]
}

/** The person of a call that only has an event, if it is known and nothing changes. */
function unchanged(people: People, call: Call, trust: SenderTrust): Identified | null {
  if (call.properties !== null || call.previousId !== null || call.company !== null) return null
  const contact = unchangedContact(people, call, trust === 'verified')
  return contact && { contactId: contact.contactId, warnings: [], touch: contact.touch }
}

/** How each person of some calls began: the earliest event may be in a later call. */
function beginningsOf(
  calls: readonly NamingCall[],
  ofVisitors: ReadonlyMap<string, Beginning>,
): Map<string, Beginning> {
  const beginnings = new Map<string, Beginning>()
  for (const { call, record } of calls) {
    const name = nameOf(call)
    const ofVisitor = ofVisitors.get(call.visitorId ?? '') ?? null
    const known = earlierOf(beginnings.get(name) ?? null, ofVisitor)
    const beginning = record ? beginningOf([record], known) : known
    if (beginning) beginnings.set(name, beginning)
  }
  return beginnings
}

/** How anonymous visitors of some calls began, whose events will belong to the person that a later call names. */
function beginningsOfVisitors(people: People, calls: readonly NamingCall[]): Map<string, Beginning> {
  const beginnings = new Map<string, Beginning>()
  for (const { call, record } of calls) {
    const { visitorId } = call
    if (record === null || visitorId === null || isNamed(call) || people.contactOfVisitor.has(visitorId)) continue
    const beginning = beginningOf([record], beginnings.get(visitorId))
    if (beginning) beginnings.set(visitorId, beginning)
  }
  return beginnings
}

function nameOf({ contactId, userId, email }: Call): string {
  return JSON.stringify([contactId, userId, email])
}

/** Successive calls about the same person, which are written together: each of them would be a change of the contact. */
type Run = [NamingCall, ...NamingCall[]]

function runsOf(calls: readonly NamingCall[]): Run[] {
  const runs: Run[] = []
  for (const each of calls) {
    const run = runs.at(-1)
    const last = run?.at(-1)?.call
    const isOfRun = last && last.company === null && each.call.company === null && nameOf(last) === nameOf(each.call)
    if (run && isOfRun) run.push(each)
    else runs.push([each])
  }
  return runs
}

/** What some calls say about one person. */
interface Statement extends Pick<Call, 'contactId' | 'userId' | 'email'> {
  properties: PropertyChanges
  visitorIds: string[]
  previousIds: string[]
}

function statementOf([first, ...others]: readonly [Call, ...Call[]]): Statement {
  const calls = [first, ...others]
  const { contactId, userId, email } = first
  return {
    contactId,
    userId,
    email,
    properties: Object.assign({}, ...calls.map(({ properties }) => properties ?? {})),
    visitorIds: calls.flatMap(({ visitorId, previousId }) => [visitorId ?? [], previousId ?? []].flat()),
    previousIds: calls.flatMap(({ previousId }) => previousId ?? []),
  }
}

/** @returns a write with the person of each call, or why it fails. */
function writeOf(run: Run, trust: SenderTrust, beginning: Beginning | null): Write<(Identified | ServiceError)[]> {
  const calls = run.map(({ call }) => call)
  const [{ call: first }, ...others] = run
  const whole = statementOf([first, ...others.map(({ call }) => call)])
  const { contactId, userId, email, visitorIds, previousIds } = whole
  return {
    keys: {
      contactIds: contactId === null ? [] : [contactId],
      emails: email === null ? [] : [email],
      externalIds: [...(userId === null ? [] : [userId]), ...previousIds],
      visitorIds,
    },
    company: first.company && companyOfWrite(first.company, { isVerified: trust === 'verified' }),
    async apply(set, { now, company }) {
      const apply = (statement: Statement) => applyStatement(set, statement, { trust, beginning, company }, now)
      if (calls.length === 1) return [apply(whole)]
      const together = await unlessRefused(set, () => apply(whole))
      if (!(together instanceof ServiceError)) return calls.map(() => together)
      // A bad call fails alone.
      const results: (Identified | ServiceError)[] = []
      for (const call of calls) results.push(await unlessRefused(set, () => apply(statementOf([call]))))
      return results
    },
  }
}

interface Sent {
  trust: SenderTrust
  beginning: Beginning | null
  company: WrittenCompany | null
}

function applyStatement(
  set: ContactSet,
  statement: Statement,
  { trust, beginning, company }: Sent,
  now: Date,
): Identified {
  const { contactId, userId, email, properties, visitorIds } = statement
  const source = trust === 'verified' ? 'identify' : 'tracker'
  requireFreeIds(set, statement)
  const { state, ignored } =
    contactId === null
      ? identify(set, { userId, email, properties, visitorIds, trust, beginning }, now)
      : changeContact(set, contactNamed(set, contactId), { source, kind: source, properties }, now)
  if (contactId !== null) linkVisitors(set, visitorIds, state, source, now)
  const warnings = ignoredWarnings(ignored.map((key) => `properties.${key}`))
  if (company) {
    const { companyId, ignored: ofCompany } = company
    const member = changeContact(set, state, { source, kind: source, properties: {}, companyId }, now)
    warnings.push(...ignoredWarnings([...ofCompany.map((key) => `company.${key}`), ...member.ignored]))
  }
  if (beginning) touch(set, state, beginning, now)
  return { contactId: state.row.contact_id, warnings, touch: touchOf(state.row) }
}

/** The contact that a call names, or the one that it was merged into. @throws ServiceError 404 `unknown_contact`. */
function contactNamed(set: ContactSet, contactId: string): ContactState {
  const state = set.contact(contactId) ?? set.survivorOf(contactId)
  if (!state) throw new ServiceError(404, 'unknown_contact', UNKNOWN_CONTACT)
  return state
}

/** @throws ServiceError 409 `previous_id_taken` if another contact has one. Only a person can decide to merge the two. */
function requireFreeIds(set: ContactSet, { previousIds, userId }: Statement): void {
  for (const previousId of previousIds) {
    if (previousId === userId || set.isAlias('external_id', previousId)) continue
    const other = set.find('external_id', previousId)?.row.contact_id
    if (other === undefined) continue
    const message = `The previous id belongs to the contact ${other}. Merge the two contacts with POST /v1/contacts/${other}/merge.`
    throw conflict('previous_id_taken', message)
  }
}
