import type { Tenant } from '../platform/tenant.ts'

/** Why an address gets no more mail. */
export type SuppressionReason = 'unsubscribed' | 'bounced' | 'complained' | 'manual'

export interface Suppression {
  address: string
  reason: SuppressionReason
  /** In the words of whoever said it, such as the mail server that refused. */
  details: string | null
  at: Date
}

/** Stops mail to an address. The first reason stays. */
export async function suppress(
  tenant: Tenant,
  { address, reason, details }: Omit<Suppression, 'at'>,
  now: Date,
): Promise<void> {
  await tenant.db
    .insertInto('email_suppressions')
    .values({ address: address.trim().toLowerCase(), reason, details, at: now })
    .onConflict((existing) => existing.column('address').doNothing())
    .execute()
}

/** Why an address must not be written to; null when it may. */
export async function suppressionOf(tenant: Tenant, address: string): Promise<Suppression | null> {
  const row = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .where('address', '=', address.trim().toLowerCase())
    .executeTakeFirst()
  return row ? { ...row, reason: row.reason as SuppressionReason } : null
}
