import { changeContact } from '../contacts/writing/change.ts'
import type { Write } from '../contacts/writing/write.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { shown } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseTimestamp } from '../platform/time.ts'
import { type Call, EMPTY_CALL } from '../sites/ingestion/call.ts'
import type { CallSender, RecordCalls } from '../sites/ingestion/record-calls.ts'
import type { Source } from '../sources/apply-records.ts'
import { writeOptOutsOfUser } from '../sources/write-opt-outs.ts'
import type { Profile } from './connector.ts'

/** The maximum number of links per profile. A person rarely has more than a few devices. */
const VISITORS_MAX = 100

/** The connection's source, which writes the records. Its records may repeat earlier values. */
export type Writer = Source & { sourceId: string }

type Written = { status: 'identified'; warnings: string[] } | Failure

/**
 * Finds or creates the people of some profiles, links their visitors, and writes the source's properties. The source's kind
 * decides which values it may replace. Writing the same profiles again changes nothing.
 */
export async function writeProfiles(
  tenant: Tenant,
  services: WriteServices & { recordHistory: RecordCalls },
  writer: Writer,
  profiles: readonly Profile[],
): Promise<Written[]> {
  const sender: CallSender = { sourceId: writer.sourceId, trust: 'verified', page: null }
  const links = profiles.flatMap((profile, index) => linksOf(profile).map((call) => ({ index, call })))
  const results = await services.recordHistory(
    tenant,
    sender,
    links.map(({ call }) => call),
  )
  const written: Written[] = profiles.map(() => ({ status: 'identified', warnings: [] }))
  const contactIds = new Map<number, string>()
  for (const [at, result] of results.entries()) {
    const index = links[at]?.index ?? 0
    if (result.status === 'failed') written[index] = result
    else if (result.contactId !== null) {
      contactIds.set(index, result.contactId)
      if (written[index]?.status === 'identified') written[index].warnings.push(...result.warnings)
    }
    // Its only key was an id that names nobody.
    else written[index] = failure(validationError([{ path: 'the person', message: result.warnings.join(' ') }]))
  }
  for (const profile of profiles) {
    const { id, userId, email, properties } = profile
    if (userId === null || email === null || parseEmail(email) !== null) continue
    const said = { externalId: id, properties, at: timeOf(profile, services.clock()) }
    await writeOptOutsOfUser(tenant, services, writer, userId, said)
  }
  const changes = [...contactIds].flatMap(([index, contactId]) => {
    const profile = profiles[index]
    return profile && Object.keys(profile.properties).length > 0 ? [{ index, contactId, profile }] : []
  })
  const outcomes = await services.writer.writeEach(
    tenant,
    changes.map(({ contactId, profile }) => writeOf(writer, contactId, profile)),
  )
  for (const [at, { index }] of changes.entries()) {
    const outcome = outcomes[at]
    if (outcome instanceof ServiceError) written[index] = failure(outcome)
  }
  return written
}

function writeOf({ source, kind }: Writer, contactId: string, profile: Profile): Write<void> {
  const { id, properties } = profile
  const statement = { id, properties, isAgain: false, isAnother: true, isCurrent: true }
  return {
    keys: { contactIds: [contactId] },
    apply(set, { now }) {
      const state = set.contact(contactId)
      // The system may have them from here and repeat them.
      const others = Object.entries(properties).filter(([key]) => !set.computed.has(key))
      const write = { source, kind, properties: Object.fromEntries(others), at: timeOf(profile, now), statement }
      if (state) changeContact(set, state, write, now)
    },
  }
}

function linksOf({ userId, email: sentEmail, visitorIds }: Profile): (Call | ServiceError)[] {
  const email = sentEmail === null ? null : parseEmail(sentEmail)
  if (sentEmail !== null && email === null) return [malformedEmail(sentEmail)]
  if (userId === null && email === null) {
    return [validationError([{ path: 'the person', message: 'needs a user id or an email' }])]
  }
  const person = { ...EMPTY_CALL, userId, email }
  if (visitorIds.length === 0) return [person]
  return visitorIds.slice(0, VISITORS_MAX).map((visitorId) => ({ ...person, visitorId }))
}

/** Without its address, the person would become a contact that nobody recognizes. */
export function malformedEmail(email: string): ServiceError {
  const message = `'${shown(email)}' is not an email address. Correct it in the connected system: the record is read again after its next change there.`
  return new ServiceError(400, 'invalid_email', message)
}

/** A source's clock may be ahead, so no write counts as newer than now. */
function timeOf({ updated_at }: Profile, now: Date): Date {
  const at = updated_at === undefined ? null : parseTimestamp(updated_at)
  return at === null || at > now ? now : at
}
