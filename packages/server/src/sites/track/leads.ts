import { parseEmail } from '../../platform/email.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { problemOf } from './identification.ts'
import type { TrackBody } from './requests.ts'

/** An email address that a person left with an event, such as in a video. */
interface Lead {
  event: string
  email: string
  visitorId: string
  /** The IP address of the request. */
  address: string
}

/** Writes the contact of a lead. @returns warnings. @throws ServiceError 429 `rate_limited`. */
export type TakeLead = (tenant: Tenant, lead: Lead) => Promise<string[]>

/**
 * Takes the leads of a request before its events are recorded.
 * @returns warnings: an invalid lead is ignored, because rejecting it would lose the event too. @throws ServiceError 429
 * `rate_limited`: the page sends the request again later.
 */
export async function takeLeads(
  tenant: Tenant,
  takeLead: TakeLead,
  { events = [] }: TrackBody,
  from: Pick<Lead, 'visitorId' | 'address'>,
): Promise<string[]> {
  const warnings: string[] = []
  for (const [index, { event, lead }] of events.entries()) {
    if (lead === undefined) continue
    const email = typeof lead === 'string' ? parseEmail(lead) : null
    const ignored = (problem: string) => [`events[${index}].lead was ignored: ${problem}`]
    warnings.push(
      ...(email === null
        ? ignored('it is not a valid email address')
        : await takeLead(tenant, { event, email, ...from }).catch((error) => ignored(problemOf(error)))),
    )
  }
  return warnings
}
