import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { NONE_IGNORED } from '../../platform/ids-of-nobody.ts'
import type { TakeLead } from '../track/leads.ts'
import { personsNamed } from './admission.ts'
import { type SubmissionDependencies, UNLINKED, writePerson } from './submit.ts'

/**
 * Takes the addresses that people leave with events, such as in a video, as a form does: the same source, the same limits, as
 * if the event's name were the form's id, and without a link of the visitor where signed identification is required.
 */
export function createLeads(dependencies: SubmissionDependencies & { rateLimiter: RateLimiter }): TakeLead {
  const { rateLimiter, findIdentificationKeys, writer } = dependencies
  return async (tenant, { event, email, visitorId, address }) => {
    rateLimiter.checkForm(tenant.id, event, address, null)
    const body = { visitor_id: visitorId, contact_data: { email } }
    for (const person of personsNamed(body, NONE_IGNORED)) rateLimiter.checkFormPerson(tenant.id, person, null)
    const { requiresSignature } = await findIdentificationKeys(tenant.id)
    const visitorIds = requiresSignature ? [] : [visitorId]
    await writer.write(tenant, {
      keys: { emails: [email], visitorIds },
      apply(set, { now }) {
        writePerson(set, { email, properties: {} }, visitorIds, now)
      },
    })
    return requiresSignature ? [UNLINKED] : []
  }
}
