import { sql } from 'kysely'
import type { MailLimits } from '../config.ts'
import type { Actor } from '../operations/audit.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import { lock } from '../platform/postgres/locks.ts'
import { HOUR_MS } from '../platform/time.ts'

/** Share of an address's limit that one tenant or one person can use, so that others can still invite it. */
const SHARE_OF_ADDRESS = 0.6

/**
 * Counts an invitation before it is sent, per recipient address, sender (a person or an API key) and tenant. Sending one
 * again counts too. The counts are in the database, so that all processes share them.
 * @throws ServiceError 429 `too_many_invitations_sent`.
 */
export async function countInvitation(
  transaction: Database,
  { email, tenantId, actor }: { email: string; tenantId: string; actor: Actor },
  limits: MailLimits | null,
  now: Date,
): Promise<void> {
  if (limits === null) return
  const share = Math.ceil(limits.invitationsPerAddressPerHour * SHARE_OF_ADDRESS)
  const bySender: [string, number][] =
    'id' in actor
      ? [
          [`invitation by ${actor.id} to ${email}`, share],
          [`invitation by ${actor.id}`, limits.invitationsPerPersonPerHour],
        ]
      : []
  const wait = await countMail(
    transaction,
    [
      ...bySender,
      [`invitation of ${tenantId} to ${email}`, share],
      [`invitation to ${email}`, limits.invitationsPerAddressPerHour],
      [`invitation of ${tenantId}`, limits.invitationsPerTenantPerHour],
    ],
    now,
  )
  if (wait === null) return
  const message = `Too many invitations were sent in the last hour. Try again in ${Math.ceil(wait / 60)} minutes.`
  throw new ServiceError(429, 'too_many_invitations_sent', message, { retryAfterSeconds: wait })
}

/** Counts a password reset mail. @returns false if the address has reached its hourly limit. */
export async function countPasswordLink(
  database: Database,
  email: string,
  limits: MailLimits | null,
  now: Date,
): Promise<boolean> {
  if (limits === null) return true
  const counted = [[`password link to ${email}`, limits.passwordLinksPerAddressPerHour]] as const
  const wait = await database.transaction().execute((transaction) => countMail(transaction, counted, now))
  return wait === null
}

/** Deletes the counts of a tenant's mails. @returns how many. */
export async function deleteMailCounts(database: Database, tenantId: string): Promise<number> {
  const ofTenant = sql<boolean>`strpos(counted_for, ${tenantId}) > 0`
  const { numDeletedRows } = await database.deleteFrom('sent_mails').where(ofTenant).executeTakeFirst()
  return Number(numDeletedRows)
}

/** @returns null if the mail may be sent and was counted, else the seconds to wait. */
async function countMail(
  transaction: Database,
  counted: readonly (readonly [name: string, limit: number])[],
  now: Date,
): Promise<number | null> {
  const hourAgo = new Date(now.getTime() - HOUR_MS)
  // Locked in a fixed order, so that two requests cannot deadlock.
  for (const [name, limit] of counted.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await lock(transaction, 'sent_mails', name)
    const rows = await transaction
      .selectFrom('sent_mails')
      .select('sent_at')
      .where('counted_for', '=', name)
      .where('sent_at', '>', hourAgo)
      .orderBy('sent_at', 'desc')
      .limit(limit)
      .execute()
    const oldest = rows.length < limit ? undefined : rows.at(-1)
    if (oldest) return Math.max(1, Math.ceil((oldest.sent_at.getTime() - hourAgo.getTime()) / 1000))
  }
  const rows = counted.map(([name]) => ({ counted_for: name, sent_at: now }))
  await transaction.insertInto('sent_mails').values(rows).execute()
  return null
}
