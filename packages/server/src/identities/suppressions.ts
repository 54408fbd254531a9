import { createHash } from 'node:crypto'
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
  const known = address.trim().toLowerCase()
  const row = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .where('address', 'in', [known, digestOf(tenant, known)])
    .limit(1)
    .executeTakeFirst()
  return row ? { ...row, address: known, reason: row.reason as SuppressionReason } : null
}

/**
 * Takes an address out, and keeps that it gets no more mail: somebody who has been erased and is imported again has
 * still unsubscribed.
 * @returns how many rows held it.
 */
export async function eraseSuppression(tx: Tenant, address: string): Promise<number> {
  const row = await tx.db
    .deleteFrom('email_suppressions')
    .where('address', '=', address)
    .returning(['reason', 'at'])
    .executeTakeFirst()
  if (!row) return 0
  await tx.db
    .insertInto('email_suppressions')
    .values({ ...row, address: digestOf(tx, address), details: null })
    .onConflict((existing) => existing.column('address').doNothing())
    .execute()
  return 1
}

/** No address looks like it, and whoever has the address finds it. */
function digestOf({ id }: Tenant, address: string): string {
  return `sha256:${createHash('sha256').update(`${id}:${address}`).digest('hex')}`
}
