import { type IgnoredIds, unlessNobody } from '../../platform/ids-of-nobody.ts'
import type { Call } from './call.ts'

/**
 * A call without the ids that name nobody: the rest of it counts. A company whose id is ignored stays if it has a domain.
 * @param warnings gets what was ignored.
 */
export function withoutNobody(call: Call, ignored: IgnoredIds, warnings: string[]): Call {
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
