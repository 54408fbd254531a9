import { joinCompany } from '../../companies/group.ts'
import { changeContact, lockContact } from '../../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../../contacts/change-log.ts'
import { ignoredWarnings } from '../../contacts/ignored-properties.ts'
import type { PropertyChanges } from '../../contacts/properties.ts'
import { linkVisitors, registerVisitors } from '../../contacts/visitors/link.ts'
import { identify } from '../../identification/identify.ts'
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
}

/** A call and its place in the request. */
export interface Placed {
  index: number
  call: Call
}

/** Successive calls about the same person, which are written together. */
type Run = [Placed, ...Placed[]]

const UNKNOWN_CONTACT = 'There is no contact with this contact_id.'

/**
 * Finds the contacts of some calls, creates those that a call names first, and writes properties, links and companies.
 * Calls that share a person, a visitor or a company take effect in the order in which they were sent; others run concurrently.
 * @returns the person of each call, or why the call fails.
 */
export async function identifyPeople(
  tenant: Tenant,
  dependencies: WriteDependencies,
  trust: SenderTrust,
  people: People,
  placed: readonly Placed[],
): Promise<Map<number, Identified | ServiceError>> {
  const identified = new Map<number, Identified | ServiceError>()
  const pending: Placed[] = []
  for (const { index, call } of placed) {
    if (isNamed(call)) pending.push({ index, call })
    else identified.set(index, anonymous(call))
  }
  const work = async (group: readonly Placed[]) => {
    let isPeopleStale = false
    for (const run of runsOf(group)) {
      const unchanged: Map<number, Identified> | null = isPeopleStale ? null : unchangedRun(people, run, trust)
      const persons = unchanged ?? (await identifyRun(tenant, dependencies, trust, people, run))
      for (const [index, person] of persons) identified.set(index, person)
      isPeopleStale ||= unchanged === null
    }
  }
  await Promise.all(groupsOf(pending).map(work))
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

/** Groups calls that share a key, directly or through others; each group is in the order of the request. */
function groupsOf(placed: readonly Placed[]): Placed[][] {
  const groupOfKey = new Map<string, Placed[]>()
  const groups = new Set<Placed[]>()
  for (const each of placed) {
    const known = new Set(keysOf(each.call).flatMap((key) => [groupOfKey.get(key) ?? []].filter(hasAny)))
    const [group = [], ...others] = known
    group.push(...others.flat(), each)
    for (const other of others) groups.delete(other)
    groups.add(group)
    for (const { call } of others.length > 0 ? group : [each]) {
      for (const key of keysOf(call)) groupOfKey.set(key, group)
    }
  }
  return [...groups].map((group) => group.sort((a, b) => a.index - b.index))
}

function hasAny({ length }: readonly unknown[]): boolean {
  return length > 0
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

function runsOf(group: readonly Placed[]): Run[] {
  const runs: Run[] = []
  for (const each of group) {
    const run = runs.at(-1)
    if (run && isSamePerson(run[0].call, each.call)) run.push(each)
    else runs.push([each])
  }
  return runs
}

function isSamePerson(a: Call, b: Call): boolean {
  return a.contactId === b.contactId && a.userId === b.userId && a.email === b.email
}

/** The person of calls that only have events, if it is known and nothing changes. */
function unchangedRun(people: People, run: Run, trust: SenderTrust): Map<number, Identified> | null {
  const unchanged = new Map<number, Identified>()
  for (const { index, call } of run) {
    if (call.properties !== null || call.previousId !== null || call.company !== null) return null
    const contact = unchangedContact(people, call, trust === 'verified')
    if (!contact) return null
    unchanged.set(index, { contactId: contact.contactId, warnings: [] })
  }
  return unchanged
}

/** Writes calls about one person at once. If that fails, each is written alone, so that a bad one fails alone. */
async function identifyRun(
  tenant: Tenant,
  dependencies: WriteDependencies,
  trust: SenderTrust,
  people: People,
  run: Run,
): Promise<Map<number, Identified | ServiceError>> {
  try {
    const person = await writePerson(tenant, dependencies, trust, people, run)
    return new Map(run.map(({ index }) => [index, person]))
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    if (run.length === 1) return new Map([[run[0].index, error]])
    const persons = new Map<number, Identified | ServiceError>()
    for (const each of run) {
      for (const [index, person] of await identifyRun(tenant, dependencies, trust, people, [each])) {
        persons.set(index, person)
      }
    }
    return persons
  }
}

async function writePerson(
  tenant: Tenant,
  dependencies: WriteDependencies,
  trust: SenderTrust,
  people: People,
  run: Run,
): Promise<Identified> {
  const [{ call: first }] = run
  const { userId, email } = first
  const calls = run.map(({ call }) => call)
  const properties: PropertyChanges = Object.assign({}, ...calls.map((call) => call.properties ?? {}))
  const visitorIds = [...new Set(calls.flatMap((call) => [call.visitorId ?? [], call.previousId ?? []].flat()))]
  const known = knownContactId(people, first)
  for (const { previousId } of calls) requireFreeId(people, previousId, first)
  await registerVisitors(tenant, visitorIds, dependencies.clock())
  const { contactId, ignored } =
    known === null
      ? await identify(tenant, dependencies, { userId, email, properties, visitorIds, trust })
      : await writeToContact(tenant, dependencies, trust, known, { properties, visitorIds })
  const warnings = ignoredWarnings(ignored.map((key) => `properties.${key}`))
  for (const { company } of calls) {
    if (company !== null) warnings.push(...(await joinCompany(tenant, dependencies, contactId, company, trust)))
  }
  return { contactId, warnings }
}

/** The contact of a call that names one; null if it names a person. @throws ServiceError 404 `unknown_contact`. */
function knownContactId(people: People, { contactId }: Call): string | null {
  if (contactId === null) return null
  const contact = people.byContactId.get(contactId)
  if (!contact) throw new ServiceError(404, 'unknown_contact', UNKNOWN_CONTACT)
  return contact.contactId
}

/** @throws ServiceError 409 `previous_id_taken` if another contact has it. Only a person can decide to merge the two. */
function requireFreeId(people: People, previousId: string | null, { userId }: Call): void {
  const other = previousId === null || previousId === userId ? undefined : people.byUserId.get(previousId)
  if (!other) return
  const message = `The previous id belongs to the contact ${other.contactId}. Merge the two contacts with POST /v1/contacts/${other.contactId}/merge.`
  throw conflict('previous_id_taken', message)
}

async function writeToContact(
  tenant: Tenant,
  dependencies: WriteDependencies,
  trust: SenderTrust,
  contactId: string,
  { properties, visitorIds }: { properties: PropertyChanges; visitorIds: readonly string[] },
): Promise<{ contactId: string; ignored: string[] }> {
  const now = dependencies.clock()
  const source = trust === 'verified' ? 'identify' : 'tracker'
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const stored = await lockContact(tx, contactId)
    if (!stored) throw new ServiceError(404, 'unknown_contact', UNKNOWN_CONTACT)
    const row = await changeContact(tx, log, stored, { source, kind: source, properties }, now)
    await linkVisitors(tx, log, visitorIds, row, source, now)
    return { contactId, ignored: log.ignored }
  })
}
