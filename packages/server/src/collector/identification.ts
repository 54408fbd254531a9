import type { WriteDependencies } from '../contacts/change-log.ts'
import { checkProperties, type PropertyChanges } from '../contacts/properties.ts'
import { parseEmail } from '../platform/email.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ExternalContactIds } from '../visitors/external-id.ts'
import { type Identification, identify } from '../visitors/identify.ts'
import type { TrackBody } from './requests.ts'

const USER_ID_LENGTH_MAX = 200

interface Dependencies extends WriteDependencies {
  externalContactIds: ExternalContactIds
}

/**
 * Acts on what a page says of its visitor, before the visitor's events are recorded.
 * @returns warnings: what cannot be used is left out, because the events must not be lost with it.
 */
export async function identifyVisitor(
  tenant: Tenant,
  dependencies: Dependencies,
  visitorId: string,
  { identify: claim, external_contact_id }: TrackBody,
): Promise<string[]> {
  const identification = claim === undefined ? null : parseClaim(visitorId, claim)
  if (identification && !('problem' in identification)) {
    const problem = await identify(tenant, dependencies, identification).then(() => null, problemOf)
    return problem === null ? [] : [`identify was left out: ${problem}`]
  }
  if (external_contact_id !== undefined) {
    await dependencies.externalContactIds.claim(tenant, visitorId, external_contact_id)
  }
  return identification ? [`identify was left out: ${identification.problem}`] : []
}

/** What makes an identification unusable; a store that is away is another matter. */
function problemOf(error: unknown): string {
  if (error instanceof ServiceError && error.status < 500) return error.message
  throw error
}

function parseClaim(visitorId: string, claim: unknown): Identification | { problem: string } {
  if (!isObject(claim)) return { problem: 'it must be an object' }
  const { external_user_id: userId = null, traits = {}, ...unknown } = claim
  const [unknownName] = Object.keys(unknown)
  if (unknownName !== undefined) return { problem: `${unknownName.slice(0, 100)} is not a known field` }
  if (!isObject(traits)) return { problem: 'traits must be an object' }
  const { email: sentEmail = null, ...properties } = traits
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== null && email === null) return { problem: 'traits.email is not a valid e-mail address' }
  if (userId !== null && (typeof userId !== 'string' || userId === '' || userId.length > USER_ID_LENGTH_MAX)) {
    return { problem: `external_user_id must be a text of 1 to ${USER_ID_LENGTH_MAX} characters` }
  }
  if (email === null && userId === null) return { problem: 'it needs an external_user_id or traits.email' }
  const [detail] = checkProperties(properties)
  if (detail) return { problem: `${detail.path.replace(/^properties/, 'traits')} ${detail.message}` }
  return { visitorIds: [visitorId], userId, email, properties: properties as PropertyChanges, source: 'tracker' }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
