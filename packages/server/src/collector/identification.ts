import type { WriteDependencies } from '../contacts/change-log.ts'
import { leftOutWarnings } from '../contacts/left-out.ts'
import { checkProperties, type PropertyChanges } from '../contacts/properties.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { FindIdentificationKeys, IdentificationKeys } from '../tenants/identification-settings.ts'
import type { ExternalContactIds } from '../visitors/external-id.ts'
import { type Identified, identify } from '../visitors/identify.ts'
import { isSigned } from '../visitors/user-hash.ts'
import type { Trust } from '../visitors/who-is-meant.ts'
import type { TrackBody } from './requests.ts'

const USER_ID_LENGTH_MAX = 200
const NOT_SIGNED = 'this tenant requires signed identification. Send identify with a user_hash.'

export interface IdentificationDependencies extends WriteDependencies {
  externalContactIds: ExternalContactIds
  findIdentificationKeys: FindIdentificationKeys
}

/** Who a page says its visitor is. */
interface PageClaim {
  userId: string | null
  email: string | null
  properties: PropertyChanges
}

/**
 * Acts on what a page says of its visitor, before the visitor's events are recorded.
 * @returns warnings: what cannot be used is left out, because the events must not be lost with it.
 */
export async function identifyVisitor(
  tenant: Tenant,
  dependencies: IdentificationDependencies,
  visitorId: string,
  { identify: sent, user_hash: hash, external_contact_id: externalContactId }: TrackBody,
): Promise<string[]> {
  const keys = await dependencies.findIdentificationKeys(tenant.id)
  const claim = sent === undefined ? null : parseClaim(sent)
  if (claim && !('problem' in claim)) {
    const trust = trustOf(claim, hash, keys, dependencies.clock())
    const warnings = trust === 'unverified' ? unsignedWarnings(hash, keys) : []
    if (trust === 'unverified' && keys.requiresSignature) return [...warnings, leftOut(NOT_SIGNED)]
    const identification = { ...claim, trust, visitorIds: [visitorId], isProofRequired: keys.requiresSignature }
    const answer = await identify(tenant, dependencies, identification).catch(problemOf)
    return [...warnings, ...(typeof answer === 'string' ? [leftOut(answer)] : warningsOf(answer, trust))]
  }
  const warnings = claim ? [leftOut(claim.problem)] : []
  if (externalContactId === undefined) return warnings
  if (keys.requiresSignature) return [...warnings, `external_contact_id was left out: ${NOT_SIGNED}`]
  await dependencies.externalContactIds.claim(tenant, visitorId, externalContactId)
  return warnings
}

function leftOut(problem: string): string {
  return `identify was left out: ${problem}`
}

function trustOf({ userId, email }: PageClaim, hash: unknown, keys: IdentificationKeys, now: Date): Trust {
  return isSigned(keys, userId ?? email ?? '', hash, now) ? 'signed' : 'unverified'
}

/** Warns about a hash that did not match; without a hash there is no warning. */
function unsignedWarnings(hash: unknown, { keys }: IdentificationKeys): string[] {
  if (hash === undefined) return []
  const secret = keys.length === 0 ? 'this tenant has no identity secret' : 'it does not match'
  return [`user_hash was ignored: ${secret}. The identification counts as unsigned.`]
}

function warningsOf({ trust, leftOut: keys }: Identified, sent: Trust): string[] {
  const warnings = leftOutWarnings(keys.map((key) => `traits.${key}`))
  if (trust === sent) return warnings
  return [
    'user_hash covers external_user_id only, and traits.email belongs to another contact: the identification counts as unsigned.',
    ...warnings,
  ]
}

/** What makes an identification unusable; a store that is away is another matter. */
function problemOf(error: unknown): string {
  if (error instanceof ServiceError && error.status < 500) return error.message
  throw error
}

function parseClaim(claim: unknown): PageClaim | { problem: string } {
  if (!isObject(claim)) return { problem: 'it must be an object' }
  const { external_user_id: userId = null, traits = {}, ...unknown } = claim
  const [unknownName] = Object.keys(unknown)
  if (unknownName !== undefined) return { problem: `${unknownName.slice(0, 100)} is not a known field` }
  if (!isObject(traits)) return { problem: 'traits must be an object' }
  const { email: sentEmail = null, ...properties } = traits
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== null && email === null) return { problem: 'traits.email is not a valid e-mail address' }
  if (
    userId !== null &&
    (typeof userId !== 'string' || userId === '' || hasMoreCharacters(userId, USER_ID_LENGTH_MAX))
  ) {
    return { problem: `external_user_id must be a text of 1 to ${USER_ID_LENGTH_MAX} characters` }
  }
  if (email === null && userId === null) return { problem: 'it needs an external_user_id or traits.email' }
  const [detail] = checkProperties(properties)
  if (detail) return { problem: `${detail.path.replace(/^properties/, 'traits')} ${detail.message}` }
  return { userId, email, properties: properties as PropertyChanges }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
