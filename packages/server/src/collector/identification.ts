import type { WriteDependencies } from '../contacts/change-log.ts'
import { checkProperties, type PropertyChanges } from '../contacts/properties.ts'
import { parseEmail } from '../platform/email.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ExternalContactIds } from '../visitors/external-id.ts'
import { type Identification, identify } from '../visitors/identify.ts'
import type { TrackBody } from './requests.ts'

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
  const identification = claim ? parseClaim(visitorId, claim) : null
  if (identification && !('problem' in identification)) {
    await identify(tenant, dependencies, identification)
    return []
  }
  if (external_contact_id !== undefined) {
    await dependencies.externalContactIds.claim(tenant, visitorId, external_contact_id)
  }
  return identification ? [`identify was left out: ${identification.problem}`] : []
}

function parseClaim(
  visitorId: string,
  claim: NonNullable<TrackBody['identify']>,
): Identification | { problem: string } {
  const { email: sentEmail, ...properties } = claim.traits ?? {}
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail !== undefined && sentEmail !== null && email === null) {
    return { problem: 'traits.email is not a valid e-mail address' }
  }
  const userId = claim.external_user_id?.trim() || null
  if (email === null && userId === null) return { problem: 'it needs an external_user_id or traits.email' }
  const [detail] = checkProperties(properties)
  if (detail) return { problem: `${detail.path.replace(/^properties/, 'traits')} ${detail.message}` }
  return { visitorIds: [visitorId], userId, email, properties: properties as PropertyChanges, source: 'tracker' }
}
