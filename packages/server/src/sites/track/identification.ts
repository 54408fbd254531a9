import { type FindIdentificationKeys, type IdentificationKeys, isSigned } from '../../access/identification-settings.ts'
import { ignoredWarnings } from '../../contacts/ignored-properties.ts'
import type { PropertyChanges } from '../../contacts/properties.ts'
import { underPropertyNames } from '../../contacts/property-names.ts'
import { usableTraits } from '../../contacts/traits.ts'
import type { ExternalContactIds } from '../../contacts/visitors/external-id.ts'
import { type Identified, identificationOf } from '../../contacts/writing/identify.ts'
import type { Trust } from '../../contacts/writing/resolve.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import { firstCharacters, hasMoreCharacters } from '../../platform/characters.ts'
import { parseEmail } from '../../platform/email.ts'
import { type ErrorDetail, ServiceError } from '../../platform/errors.ts'
import { flawsOf } from '../../platform/http/body-parts.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { type IgnoredIds, unlessNobody } from '../../platform/ids-of-nobody.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { TrackBody } from './requests.ts'

const WARNINGS_MAX = 20
const PATH_LENGTH_MAX = 150
const NOT_SIGNED = 'signed identification is required. Send identify with a user_hash.'

export interface IdentificationDependencies extends WriteServices {
  externalContactIds: ExternalContactIds
  findIdentificationKeys: FindIdentificationKeys
}

/** What the identification of one request needs. */
type RequestDependencies = IdentificationDependencies & { ignored: IgnoredIds }

/** Who a page says that its visitor is. */
interface SentIdentification {
  userId: string | null
  email: string | null
  /** The addresses that a site may have signed: as it sent it, in lower case, and as it is stored. */
  signable: string[]
  properties: PropertyChanges
  /** The parts that were ignored; the rest takes effect. */
  warnings: string[]
}

/**
 * Applies a page's identification of its visitor before the visitor's events are recorded.
 * @returns warnings: invalid parts are ignored, because rejecting them would lose the events too.
 */
export async function identifyVisitor(
  tenant: Tenant,
  dependencies: RequestDependencies,
  visitorId: string,
  { identify: sent, user_hash: hash, external_contact_id: sentContactId }: TrackBody,
): Promise<string[]> {
  const warnings: string[] = []
  const externalContactId = contactIdOf(sentContactId, dependencies.ignored, warnings)
  const keys = await dependencies.findIdentificationKeys(tenant.id)
  const parsed = sent === undefined ? null : parseIdentification(sent, dependencies.ignored)
  if (parsed && !('problem' in parsed)) {
    const trust = trustOf(parsed, hash, keys, dependencies.clock())
    warnings.push(...parsed.warnings, ...(trust === 'unverified' ? unsignedWarnings(hash, keys) : []))
    if (trust === 'unverified' && keys.requiresSignature) return [...warnings, ignored(NOT_SIGNED)]
    const { userId, email, properties } = parsed
    const visitorIds = [visitorId]
    const identification = { userId, email, properties, trust, visitorIds, isProofRequired: keys.requiresSignature }
    const result = await dependencies.writer.write(tenant, identificationOf(identification)).catch(problemOf)
    return [...warnings, ...(typeof result === 'string' ? [ignored(result)] : warningsOf(result, trust))]
  }
  if (parsed) warnings.push(...parsed.warnings, ignored(parsed.problem))
  if (externalContactId === null) return warnings
  if (keys.requiresSignature) return [...warnings, `external_contact_id was ignored: ${NOT_SIGNED}`]
  await dependencies.externalContactIds.link(tenant, visitorId, externalContactId)
  return warnings
}

function ignored(problem: string): string {
  return `identify was ignored: ${problem}`
}

function trustOf({ userId, signable }: SentIdentification, hash: unknown, keys: IdentificationKeys, now: Date): Trust {
  const texts = userId === null ? signable : [userId]
  return texts.some((text) => isSigned(keys, text, hash, now)) ? 'signed' : 'unverified'
}

/** Warns about a hash that does not match; a missing hash causes no warning. */
function unsignedWarnings(hash: unknown, { keys }: IdentificationKeys): string[] {
  if (hash === undefined) return []
  const secret = keys.length === 0 ? 'there is no identity secret' : 'it does not match'
  return [`user_hash was ignored: ${secret}. The identification counts as unsigned.`]
}

function warningsOf({ trust, ignored: keys }: Identified, sent: Trust): string[] {
  const warnings = ignoredWarnings(keys.map((key) => `traits.${key}`))
  if (trust === sent) return warnings
  return [
    'user_hash covers external_user_id only, and traits.email belongs to another contact: the identification counts as unsigned.',
    ...warnings,
  ]
}

/**
 * The problem with an identification. What another attempt may do better is rethrown: a limit, or a store that is down, for
 * example.
 */
export function problemOf(error: unknown): string {
  if (error instanceof ServiceError && error.status < 500 && error.status !== 429) return error.message
  throw error
}

function parseIdentification(
  sent: unknown,
  ignoredIds: IgnoredIds,
): SentIdentification | { problem: string; warnings: string[] } {
  const warnings: string[] = []
  const unusable = (problem: string) => ({ problem, warnings })
  const [flaw] = flawsOf(sent)
  if (flaw) return unusable(`${firstCharacters(flaw.path, PATH_LENGTH_MAX) || 'it'} ${flaw.message}`)
  if (!isObject(sent)) return unusable('it must be an object')
  const { external_user_id: sentUserId, traits: sentTraits, ...unknown } = sent
  const traits = sentTraits ?? {}
  if (!isObject(traits)) return unusable('traits must be an object')
  const { email: traitsEmail, ...otherTraits } = underPropertyNames(traits)
  const userId = userIdOf(sentUserId, ignoredIds, warnings)
  const sentEmail = unlessBlank(traitsEmail)
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== null && email === null) return unusable('traits.email is not a valid email address')
  if (userId !== null && (typeof userId !== 'string' || hasMoreCharacters(userId, ID_LENGTH_MAX))) {
    return unusable(`external_user_id must be a string of 1 to ${ID_LENGTH_MAX} characters`)
  }
  if (email === null && userId === null) return unusable('it needs an external_user_id or traits.email')
  const { properties, problems } = usableTraits(otherTraits)
  const unknownFields = Object.keys(unknown).map((path) => ({ path, message: 'is not a known field' }))
  const signable = typeof sentEmail === 'string' && email !== null ? spellingsOf(sentEmail, email) : []
  warnings.push(...partWarnings([...unknownFields, ...problems]))
  return { userId, email, signable, properties, warnings }
}

/** The user id; null if there is none, or it names nobody. */
function userIdOf(sent: unknown, ignoredIds: IgnoredIds, warnings: string[]): unknown {
  const id = idOf(sent) ?? ''
  if (id === '') return null
  return typeof id === 'string' ? unlessNobody('identify.external_user_id', id, ignoredIds, warnings) : id
}

/** The external contact id; null if there is none, or it cannot be used. */
function contactIdOf(sent: unknown, ignoredIds: IgnoredIds, warnings: string[]): string | null {
  const id = idOf(sent)
  if (id === undefined) return null
  if (typeof id === 'string' && id !== '' && !hasMoreCharacters(id, ID_LENGTH_MAX))
    return unlessNobody('external_contact_id', id, ignoredIds, warnings)
  warnings.push(`external_contact_id was ignored: it must be a string of 1 to ${ID_LENGTH_MAX} characters.`)
  return null
}

/** A number is the text of its digits: see parseJsonBody. */
function idOf(sent: unknown): unknown {
  return typeof sent === 'number' || typeof sent === 'boolean' ? String(sent) : sent
}

function spellingsOf(sent: string, email: string): string[] {
  return [...new Set([email, sent.trim().toLowerCase(), sent.toLowerCase()])]
}

/** Pages send unknown values as empty texts (`email: user.email ?? ''`), which count as absent. */
function unlessBlank(value: unknown): unknown {
  return typeof value === 'string' && value.trim() === '' ? null : (value ?? null)
}

/** Warnings about the ignored parts of an identification: one for each of the first ones, and a count of the rest. */
function partWarnings(problems: readonly ErrorDetail[]): string[] {
  const named = problems
    .slice(0, WARNINGS_MAX)
    .map(({ path, message }) => `identify.${firstCharacters(path, PATH_LENGTH_MAX)} was ignored: ${message}.`)
  const more = problems.length - named.length
  return more > 0 ? [...named, `${more} more parts of identify were ignored.`] : named
}
