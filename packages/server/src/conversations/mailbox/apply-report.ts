import { suppress } from '../../identities/suppressions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { boundedKey } from '../clean.ts'
import type { Participant } from '../message.ts'
import type { DeliveryReport } from './reports.ts'

/** Reports of one mailbox that wait for what they are about. */
const WAITING_MAX = 100
/** Programs send a mail first and put it into the Sent folder afterwards: a bounce may be there before it. */
const WAITS_MS = 10 * 60_000

/** A report that fits no mail which is known yet. */
export interface WaitingReport {
  report: DeliveryReport
  since: Date
}

/**
 * Stops mail to an address that refuses it for good, or whose owner complained. Only what this tenant has sent counts, and
 * only to one address alone: a report that somebody invents names no mail that exists, and one that its recipient invents
 * stops the mail to that recipient. Of a mail to several each knows the id, and could stop the mail to the others.
 * @returns the addresses that get no more mail.
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
  const written = [...(sent.recipients as unknown as Participant[]), ...(sent.cc as unknown as Participant[])]
  const addresses = [...new Set(written.map(({ address }) => address))]
  const concerned = [...new Set(report.recipients)].filter(
    (address) => addresses.length === 1 && addresses[0] === address,
  )
  for (const address of concerned) {
    await suppress(tenant, { address, reason: report.reason, details: report.details }, now)
  }
  return concerned
}

/** Has more reports wait; where there are too many the oldest are let go. */
export function waitFrom(
  waiting: readonly WaitingReport[],
  reports: readonly DeliveryReport[],
  since: Date,
): WaitingReport[] {
  return [...waiting, ...reports.map((report) => ({ report, since }))].slice(-WAITING_MAX)
}

/**
 * Tries waiting reports again, once all folders have been read.
 * @returns those that go on waiting: one that has waited for ten minutes has had its last try.
 */
export async function applyWaiting(
  tenant: Tenant,
  waiting: readonly WaitingReport[],
  now: Date,
): Promise<WaitingReport[]> {
  const left: WaitingReport[] = []
  for (const each of waiting) {
    const isApplied = (await applyReport(tenant, each.report, now)).length > 0
    if (!isApplied && now.getTime() - each.since.getTime() < WAITS_MS) left.push(each)
  }
  return left
}
