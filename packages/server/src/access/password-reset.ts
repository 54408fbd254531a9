import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../operations/audit.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { HOUR_MS } from '../platform/time.ts'
import { saltFor, verifiedAccount } from './accounts.ts'
import { verificationIdentifier } from './sessions.ts'
import { requireEmail } from './users.ts'
import { verifyAddress } from './verify-address.ts'

const VALID_MS = HOUR_MS

/**
 * Creates a token that lets its bearer choose a new password for an address, once and within an hour. It is valid for the
 * verified account; if there is none, using it verifies the address (see `verifyAddress`). Every tenant of the account
 * records it in its audit log.
 * @param withoutSecondFactor whether to remove the second factor at once, for a person who has lost it.
 * @throws ServiceError 404 if no account has this address.
 */
export async function allowNewPassword(
  stores: Stores,
  email: string,
  withoutSecondFactor: boolean,
  now: Date,
): Promise<{ token: string; expiresAt: Date }> {
  const address = requireEmail(email)
  return stores.database.transaction().execute(async (transaction) => {
    const accounts = await accountsToReset(transaction, address)
    const link = await createLink(transaction, accounts, now)
    if (link === null) throw notFound('user')
    const memberships = await transaction
      .selectFrom('tenant_users')
      .select(['tenant_id', 'user_id'])
      .where('user_id', 'in', accounts)
      .execute()
    for (const { tenant_id, user_id } of memberships) {
      const tenant = openTenant(evenIfClosed({ ...stores, database: transaction }), tenant_id)
      const what = { action: 'member.new_password_allowed', subjectKind: 'user', subjectId: user_id }
      const details = { email: address, removes_second_factor: withoutSecondFactor }
      await audit(tenant, { actor: { kind: 'command_line' }, ...what, details }, now)
    }
    if (withoutSecondFactor) {
      await transaction.deleteFrom('user_two_factors').where('user_id', 'in', accounts).execute()
      const changed = transaction.updateTable('users').set({ two_factor_enabled: false, updated_at: now })
      await changed.where('id', 'in', accounts).execute()
    }
    return link
  })
}

/** Creates the token of a mailed link, as `allowNewPassword`. @returns null if no account has this address. */
export async function newPasswordToken(database: Database, email: string, now: Date): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    const link = await createLink(transaction, await accountsToReset(transaction, email), now)
    return link?.token ?? null
  })
}

/** Only the verified account of an address; if there is none, all of its accounts. */
async function accountsToReset(database: Database, email: string): Promise<string[]> {
  const verified = await verifiedAccount(database, email)
  if (verified !== null) return [verified]
  const rows = await database.selectFrom('users').select('id').where('email', '=', email).orderBy('id').execute()
  return rows.map(({ id }) => id)
}

async function createLink(
  transaction: Database,
  [userId]: string[],
  now: Date,
): Promise<{ token: string; expiresAt: Date } | null> {
  if (userId === undefined) return null
  const token = randomBytes(24).toString('base64url')
  const expiresAt = new Date(now.getTime() + VALID_MS)
  const times = { created_at: now, updated_at: now, expires_at: expiresAt }
  await transaction
    .insertInto('user_verifications')
    .values({ id: newId(), identifier: identifierOf(token), value: userId, ...times })
    .execute()
  return { token, expiresAt }
}

/**
 * Verifies the address of a password reset link (see `verifyAddress`): the link was mailed or came from the operator. The
 * link stays valid for the resulting account; no other link does.
 * @returns the salt for the new password; null if no account has this link.
 */
export async function verifyByLink(stores: Stores, token: string, now: Date): Promise<string | null> {
  return stores.database.transaction().execute(async (database) => {
    const link = await database
      .selectFrom('user_verifications')
      .innerJoin('users', (join) => join.on(sql`users.id::text`, '=', sql.ref('user_verifications.value')))
      .selectAll('user_verifications')
      .select(['users.email', 'users.email_verified'])
      .where('identifier', '=', identifierOf(token))
      .where('user_verifications.expires_at', '>', now)
      .executeTakeFirst()
    if (!link) return null
    const { email, email_verified: isVerified, ...row } = link
    const userId = isVerified ? null : await verifyAddress({ ...stores, database }, email, now)
    if (userId !== null) {
      const moved = { ...row, value: userId }
      await database.insertInto('user_verifications').values(moved).execute()
    }
    return saltFor(database, email)
  })
}

const identifierOf = (token: string) => verificationIdentifier(`reset-password:${token}`)

/**
 * Deletes everything else that would admit someone who knew the old password: reset links, sign-ins that still need
 * their second step, and trusted devices that skip it.
 */
export async function deletePendingVerifications(database: Database, userId: string): Promise<void> {
  // The sign-in library stores the person's id as the value of these rows only.
  await database.deleteFrom('user_verifications').where('value', '=', userId).execute()
}
