import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { normalizeEmail } from '../platform/email.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Why an address is suppressed. */
export type SuppressionReason = 'unsubscribed' | 'bounced' | 'complained' | 'manual'

/** Reasons that only the owner of the address can revoke. */
const OWNERS_CHOICES: readonly SuppressionReason[] = ['unsubscribed', 'complained']

export interface Suppression {
  address: string
  reason: SuppressionReason
  /** The original wording, such as the reply of the mail server that refused the mail. */
  details: string | null
  at: Date
}

/** Whether the owner of the address asked for it; other reasons follow from a failed mail or a user's decision. */
export function isOwnersChoice(reason: SuppressionReason): boolean {
  return OWNERS_CHOICES.includes(reason)
}

/** Suppresses an address. The first reason is kept, unless the new one is the owner's choice. */
export async function suppress(
  tenant: Tenant,
  { address, reason, details }: Omit<Suppression, 'at'>,
  now: Date,
): Promise<void> {
  await upsert(tenant, { address: normalizeEmail(address), reason, details, at: now })
}

/** The suppression of an address; null if it may get mail. */
export async function suppressionOf(tenant: Tenant, address: string): Promise<Suppression | null> {
  const known = normalizeEmail(address)
  const row = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'reason', 'details', 'at'])
    .where('address', 'in', [known, digestOf(tenant, known)])
    // An erased contact that returned may have two rows. The owner's choice takes precedence.
    .orderBy((eb) => eb('reason', 'in', OWNERS_CHOICES), 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? { ...row, address: known, reason: row.reason as SuppressionReason } : null
}

/** When the owners of addresses asked to get no more mail, by address; absent if they did not. */
export async function ownersChoicesOf(tenant: Tenant, addresses: readonly string[]): Promise<Map<string, Date>> {
  if (addresses.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('email_suppressions')
    .select(['address', 'at'])
    .where('address', '=', sql<string>`any(${[...addresses]}::text[])`)
    .where('reason', 'in', OWNERS_CHOICES)
    .execute()
  return new Map(rows.map(({ address, at }) => [address, at]))
}

/**
 * Replaces an address by its digest, so that it stays suppressed: a person who is erased and imported again is
 * still unsubscribed.
 * @returns the number of rows that contained it.
 */
export async function eraseSuppression(tx: Tenant, address: string): Promise<number> {
  const row = await tx.db
    .deleteFrom('email_suppressions')
    .where('address', '=', address)
    .returning(['reason', 'at'])
    .executeTakeFirst()
  if (!row) return 0
  await upsert(tx, { ...row, reason: row.reason as SuppressionReason, address: digestOf(tx, address), details: null })
  return 1
}

async function upsert(tenant: Tenant, { address, ...values }: Suppression): Promise<void> {
  await tenant.db
    .insertInto('email_suppressions')
    .values({ address, ...values })
    .onConflict((existing) =>
      isOwnersChoice(values.reason)
        ? existing.column('address').doUpdateSet(values).where('email_suppressions.reason', 'not in', OWNERS_CHOICES)
        : existing.column('address').doNothing(),
    )
    .execute()
}

/** Can be computed from the address, and is never a valid address itself. */
export function digestOf({ id }: Tenant, address: string): string {
  return `sha256:${createHash('sha256').update(`${id}:${address}`).digest('hex')}`
}
