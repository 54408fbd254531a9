import { suppress } from '../../identities/suppressions.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { boundedKey } from '../clean.ts'
import type { Participant } from '../message.ts'
import type { DeliveryReport } from './reports.ts'

/**
 * Stops mail to an address that refuses it for good, or whose owner complained. Only what this tenant has sent counts, and
 * only to those it was sent to: a report that somebody invents names no mail that exists, and one that a recipient invents
 * stops the mail to that recipient alone.
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
  const addresses = new Set(written.map(({ address }) => address))
  const concerned = [...new Set(report.recipients)].filter((address) => addresses.has(address))
  for (const address of concerned) {
    await suppress(tenant, { address, reason: report.reason, details: report.details }, now)
  }
  return concerned
}
