import { createHash } from 'node:crypto'
import type { Tenant } from '../platform/tenant.ts'

/** Why an address gets no more mail. */
export type SuppressionReason = 'unsubscribed' | 'bounced' | 'complained' | 'manual'

/** Reasons that only the owner of the address can take back. */
const WISHES: readonly SuppressionReason[] = ['unsubscribed', 'complained']

export interface Suppression {
  address: string
  reason: SuppressionReason
  /** In the words of whoever said it, such as the mail server that refused. */
  details: string | null
  at: Date
}

/** Whether it is what the owner of the address wants, and not merely what became of a mail. */
export function isWish(reason: SuppressionReason): boolean {
  return WISHES.includes(reason)
}

/** Stops mail to an address. The first reason stays, unless its owner says now that they want no more. */
export async function suppress(
  tenant: Tenant,
  { address, reason, details }: Omit<Suppression, 'at'>,
  now: Date,
): Promise<void> {
  await put(tenant, { address: address.trim().toLowerCase(), reason, details, at: now })
}

/** Why an address must not be written to; null when it may. */
export async function suppressionOf(tenant: Tenant, address: string): Promise<Suppression | null> {
  const known = address.trim().toLowerCase()
  const row = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .where('address', 'in', [known, digestOf(tenant, known)])
    // Two, where somebody was erased and is here again: what its owner wants comes first.
    .orderBy((eb) => eb('reason', 'in', WISHES), 'desc')
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
  await put(tx, { ...row, reason: row.reason as SuppressionReason, address: digestOf(tx, address), details: null })
  return 1
}

async function put(tenant: Tenant, { address, ...values }: Suppression): Promise<void> {
  await tenant.db
    .insertInto('email_suppressions')
    .values({ address, ...values })
    .onConflict((existing) =>
      isWish(values.reason)
        ? existing.column('address').doUpdateSet(values).where('email_suppressions.reason', 'not in', WISHES)
        : existing.column('address').doNothing(),
    )
    .execute()
}

/** No address looks like it, and whoever has the address finds it. */
export function digestOf({ id }: Tenant, address: string): string {
  return `sha256:${createHash('sha256').update(`${id}:${address}`).digest('hex')}`
}
