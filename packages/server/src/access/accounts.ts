import type { Database } from '../platform/postgres/database.ts'
import { lock } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'
import { hashPassword, isSameHash, newSalt, saltOf } from './passwords.ts'

/** Locks an address, so that its accounts are created and verified one at a time. @param transaction holds the lock. */
export async function lockAddress(transaction: Database, email: string): Promise<void> {
  await lock(transaction, 'account', email)
}

/** @returns the id of the address's verified account, or null. */
export async function verifiedAccount(database: Database, email: string): Promise<string | null> {
  const accounts = database.selectFrom('users').select('id').where('email', '=', email)
  return (await accounts.where('email_verified', '=', true).executeTakeFirst())?.id ?? null
}

/** The accounts, which belong to no tenant, in a tenant's transaction. */
export function accountsWithin(tx: Tenant): Database {
  return tx.unrestricted as unknown as Database
}

/** Whether a tenant has a member with this address. */
export async function isMember(database: Database, tenantId: string, email: string): Promise<boolean> {
  const row = await database
    .selectFrom('users')
    .innerJoin('tenant_users', 'tenant_users.user_id', 'users.id')
    .select('users.id')
    .where('users.email', '=', email)
    .where('tenant_users.tenant_id', '=', tenantId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * The salt for a new password of an address. All accounts of an address share one, so that a sign-in always computes
 * one hash: its duration does not reveal how many accounts the address has.
 */
export async function saltFor(database: Database, email: string): Promise<string> {
  const row = await passwordsOf(database, email).limit(1).executeTakeFirst()
  return row ? saltOf(row.password) : newSalt()
}

/** An account of an address, with the address under which better-auth stores it. */
export interface Account {
  id: string
  signInEmail: string
}

/**
 * The accounts of an address that have this password, the verified one first.
 * @param only the accounts that may be tried; null for all.
 */
export async function accountsOpenedBy(
  database: Database,
  { email, password }: { email: string; password: string },
  only: ReadonlySet<string> | null,
): Promise<Account[]> {
  const rows = await passwordsOf(database, email).execute()
  // There is more than one salt only if two passwords of the address were set concurrently.
  const salts = new Set(rows.map((row) => saltOf(row.password)))
  if (salts.size === 0) salts.add(newSalt())
  const hashes: string[] = []
  for (const salt of salts) hashes.push(await hashPassword(password, salt))
  return rows
    .filter((row) => hashes.some((hash) => isSameHash(hash, row.password)) && (only?.has(row.id) ?? true))
    .map(({ id, sign_in_email }) => ({ id, signInEmail: sign_in_email }))
}

function passwordsOf(database: Database, email: string) {
  return database
    .selectFrom('users')
    .innerJoin('user_accounts', 'user_accounts.user_id', 'users.id')
    .select(['users.id', 'users.sign_in_email', 'user_accounts.password'])
    .where('users.email', '=', email)
    .where('user_accounts.password', 'is not', null)
    .$narrowType<{ password: string }>()
    .orderBy('users.email_verified', 'desc')
    .orderBy('users.created_at')
    .orderBy('users.id')
}

/** The tenants of some accounts, sorted by name, each with the account that belongs to it. */
export async function tenantsOf(
  database: Database,
  accounts: readonly Account[],
): Promise<{ accountId: string; tenant_id: string; name: string }[]> {
  if (accounts.length === 0) return []
  const rows = await database
    .selectFrom('tenant_users')
    .innerJoin('tenants', 'tenants.tenant_id', 'tenant_users.tenant_id')
    .select(['tenant_users.user_id', 'tenants.tenant_id', 'tenants.name'])
    .where(
      'tenant_users.user_id',
      'in',
      accounts.map(({ id }) => id),
    )
    .orderBy('tenants.name')
    .orderBy('tenants.tenant_id')
    .execute()
  return rows.map(({ user_id, ...tenant }) => ({ accountId: user_id, ...tenant }))
}

/** Makes the next session of an account start in this tenant. */
export async function startNextSessionIn(
  database: Database,
  account: Account,
  tenantId: string,
  now: Date,
): Promise<void> {
  const membership = database.updateTable('tenant_users').where('user_id', '=', account.id)
  await membership.where('tenant_id', '=', tenantId).set({ chosen_at: now }).execute()
}

/**
 * Withdraws the tenant's word for an account when it removes the member. If the account belongs to no other tenant, it
 * is deleted: the tenant's next invitation to the address creates a new one, whatever accounts exist elsewhere.
 */
export async function stopVouching(transaction: Database, tenantId: string, userId: string): Promise<void> {
  // Waits until the account has finished creating a tenant of its own.
  const account = transaction.selectFrom('users').select('id').where('id', '=', userId)
  if (!(await account.where('vouched_by', '=', tenantId).forUpdate().executeTakeFirst())) return
  await transaction.updateTable('users').set({ vouched_by: null }).where('id', '=', userId).execute()
  await transaction.deleteFrom('user_verifications').where('value', '=', userId).execute()
  await transaction
    .deleteFrom('users')
    .where('id', '=', userId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('tenant_users').select('user_id').where('user_id', '=', userId))),
    )
    .execute()
}
