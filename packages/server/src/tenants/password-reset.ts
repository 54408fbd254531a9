import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../audit/log.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { proveAddress } from './address-proof.ts'
import { verificationIdentifier } from './sessions.ts'
import { requireEmail } from './users.ts'

const VALID_MS = 60 * 60 * 1000

/**
 * Makes a token that lets whoever has it choose a new password for a person, once and within an hour, as the sign-in
 * library would for a mailed link. Each tenant of the person has it in its audit log.
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
  const { database } = stores
  const user = await database.selectFrom('users').select('id').where('email', '=', address).executeTakeFirst()
  if (!user) throw notFound('user')
  const token = randomBytes(24).toString('base64url')
  const expiresAt = new Date(now.getTime() + VALID_MS)
  const identifier = identifierOf(token)
  await database.transaction().execute(async (transaction) => {
    const times = { created_at: now, updated_at: now, expires_at: expiresAt }
    await transaction
      .insertInto('user_verifications')
      .values({ id: newId(), identifier, value: user.id, ...times })
      .execute()
    const memberships = await transaction
      .selectFrom('tenant_users')
      .select('tenant_id')
      .where('user_id', '=', user.id)
      .execute()
    for (const { tenant_id } of memberships) {
      const tenant = openTenant({ ...stores, database: transaction }, tenant_id)
      const what = { action: 'member.new_password_allowed', subjectKind: 'user', subjectId: user.id }
      const details = { email: address, removes_second_factor: withoutSecondFactor }
      await audit(tenant, { actor: { kind: 'command_line' }, ...what, details }, now)
    }
    if (!withoutSecondFactor) return
    await transaction.deleteFrom('user_two_factors').where('user_id', '=', user.id).execute()
    await transaction
      .updateTable('users')
      .set({ two_factor_enabled: false, updated_at: now })
      .where('id', '=', user.id)
      .execute()
  })
  return { token, expiresAt }
}

/**
 * A password reset link comes by mail or from the operator, so opening it verifies the address (see `proveAddress`).
 * It stays valid for the resulting account; no other link does.
 */
export async function proveByLink(stores: Stores, token: string, now: Date): Promise<void> {
  await stores.database.transaction().execute(async (database) => {
    const link = await database
      .selectFrom('user_verifications')
      .innerJoin('users', (join) => join.on(sql`users.id::text`, '=', sql.ref('user_verifications.value')))
      .selectAll('user_verifications')
      .select('users.email')
      .where('identifier', '=', identifierOf(token))
      .where('user_verifications.expires_at', '>', now)
      .where('users.email_verified', '=', false)
      .executeTakeFirst()
    if (!link) return
    const { email, ...row } = link
    const userId = await proveAddress({ ...stores, database }, email, now)
    if (userId === null) return
    await database
      .insertInto('user_verifications')
      .values({ ...row, value: userId })
      .execute()
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
