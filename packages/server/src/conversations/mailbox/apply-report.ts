import { suppress } from '../../identities/suppressions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { boundedKey } from '../clean.ts'
import type { Participant } from '../message.ts'
import type { DeliveryReport } from './reports.ts'

/** The maximum number of waiting reports per mailbox. */
const WAITING_MAX = 100
/** Mail programs send a mail first and save it to the Sent folder afterwards, so a bounce may arrive before it. */
const WAIT_MS_MAX = 10 * MINUTE_MS

/** A report that matches no known mail yet. */
export interface WaitingReport {
  report: DeliveryReport
  since: Date
}

/**
 * Suppresses an address that permanently bounced or complained. The report must match a mail that this tenant sent to
 * this address only: a forged report by a stranger matches no mail, and one by the recipient suppresses only the
 * recipient. For a mail to several addresses, any recipient knows its id and could suppress the others.
 * @returns the suppressed addresses.
 */
export async function applyReport(tenant: Tenant, report: DeliveryReport, now: Date): Promise<string[]> {
  const sent = await tenant.db
    .selectFrom('conversation_messages')
    .select(['recipients', 'cc'])
    .where('source', '=', 'email')
    .where('message_id', '=', boundedKey(report.messageId))
    .where('direction', '=', 'outbound')
    .executeTakeFirst()
  if (!sent) return []
  const people = [...(sent.recipients as unknown as Participant[]), ...(sent.cc as unknown as Participant[])]
  const addresses = [...new Set(people.map(({ address }) => address))]
  const suppressed = [...new Set(report.recipients)].filter(
    (address) => addresses.length === 1 && addresses[0] === address,
  )
  for (const address of suppressed) {
    await suppress(tenant, { address, reason: report.reason, details: report.details }, now)
  }
  return suppressed
}

/** Adds reports to the waiting ones. Beyond the limit, the oldest are dropped. */
export function addWaiting(
  waiting: readonly WaitingReport[],
  reports: readonly DeliveryReport[],
  since: Date,
): WaitingReport[] {
  return [...waiting, ...reports.map((report) => ({ report, since }))].slice(-WAITING_MAX)
}

/**
 * Retries waiting reports after all folders have been read.
 * @returns those that still wait. A report is dropped after ten minutes.
 */
export async function retryWaiting(
  tenant: Tenant,
  waiting: readonly WaitingReport[],
  now: Date,
): Promise<WaitingReport[]> {
  const left: WaitingReport[] = []
  for (const each of waiting) {
    const isApplied = (await applyReport(tenant, each.report, now)).length > 0
    if (!isApplied && now.getTime() - each.since.getTime() < WAIT_MS_MAX) left.push(each)
  }
  return left
}
