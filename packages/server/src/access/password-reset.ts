import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../operations/audit.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { saltFor, verifiedAccount } from './accounts.ts'
import { proveAddress } from './address-proof.ts'
import { verificationIdentifier } from './sessions.ts'
import { requireEmail } from './users.ts'

const VALID_MS = 60 * 60 * 1000

/**
 * Makes a token that lets whoever has it choose a new password for an address, once and within an hour. It is for the
 * verified account; without one, using it verifies the address (see `proveAddress`). Each tenant of the account has it
 * in its audit log.
 * @param withoutSecondFactor whether the second factor goes at once, for one who has lost it.
 * @throws ServiceError 404 when nobody has this address.
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
      const tenant = openTenant({ ...stores, database: transaction }, tenant_id)
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

/** Makes the token of a link that is mailed, as `allowNewPassword`. @returns null when nobody has this address. */
export async function newPasswordToken(database: Database, email: string, now: Date): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    const link = await createLink(transaction, await accountsToReset(transaction, email), now)
    return link?.token ?? null
  })
}

/** The verified account of an address alone, else all of its accounts. */
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
 * A password reset link comes by mail or from the operator, so opening it verifies the address (see `proveAddress`).
 * It stays valid for the resulting account; no other link does.
 * @returns the salt for the new password; null when no account has this link.
 */
export async function proveByLink(stores: Stores, token: string, now: Date): Promise<string | null> {
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
    const userId = isVerified ? null : await proveAddress({ ...stores, database }, email, now)
    if (userId !== null) {
      const moved = { ...row, value: userId }
      await database.insertInto('user_verifications').values(moved).execute()
    }
    return saltFor(database, email)
  })
}

const identifierOf = (token: string) => verificationIdentifier(`reset-password:${token}`)

/**
 * Ends what else would let somebody in who had to do with the old password: links for a new one, sign-ins that wait for
 * their second step, and devices that are trusted to do without it.
 */
export async function forgetWaitingSteps(database: Database, userId: string): Promise<void> {
  // What the library remembers of such a step is whose it is; it keeps nothing else under a person's id.
  await database.deleteFrom('user_verifications').where('value', '=', userId).execute()
}
