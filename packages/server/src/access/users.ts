import { sql } from 'kysely'
import { type Actor, audit } from '../operations/audit.ts'
import type { Role } from '../operations/roles.ts'
import { parseEmail } from '../platform/email.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { lockAddress, saltFor } from './accounts.ts'
import { requirePersonName } from './names.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { verifyAddress } from './verify-address.ts'

export interface NewUser {
  email: string
  /** null for a person who only signs in at the OpenID provider. */
  password: string | null
  /** Default: the email address. */
  name?: string
}

/**
 * Creates the account of a person who may sign in to the dashboard. An address has one verified account, and one more
 * for each tenant that vouches for it, so that no tenant learns of the others' accounts.
 * @param transaction holds the lock on the address.
 * @param vouchedBy the tenant that vouches for an unverified address; null for a verified one.
 * @throws ServiceError 400 for a malformed email or name or a short password, 409 if there is such an account.
 */
export async function createUser(
  transaction: Database,
  person: NewUser,
  vouchedBy: string | null,
  now: Date,
): Promise<string> {
  return insertUser(transaction, await checked(transaction, person), vouchedBy, now)
}

/**
 * Creates a person with a verified address. Unverified accounts of the address are merged into the new account.
 * @param stores the transaction's database.
 * @throws ServiceError as `createUser`.
 */
export async function createVerifiedUser(stores: Stores, person: NewUser, now: Date): Promise<string> {
  const known = await checked(stores.database, person)
  const { email, name, password } = known
  const userId = await verifyAddress(stores, email, now)
  if (userId === null) return insertUser(stores.database, known, null, now)
  if (name !== null) await stores.database.updateTable('users').set({ name }).where('id', '=', userId).execute()
  if (password !== null) await addPassword(stores.database, userId, password, now)
  return userId
}

interface CheckedUser {
  email: string
  name: string | null
  /** Its hash. */
  password: string | null
}

/** Validates a person and locks the address. @throws ServiceError 400 if a value is invalid. */
async function checked(transaction: Database, person: NewUser): Promise<CheckedUser> {
  const email = requireEmail(person.email)
  const text = person.name?.trim() ?? ''
  const name = text === '' || text === email ? null : requirePersonName(text)
  if (person.password !== null) requireGoodPassword(person.password)
  await lockAddress(transaction, email)
  if (person.password === null) return { email, name, password: null }
  return { email, name, password: await hashPassword(person.password, await saltFor(transaction, email)) }
}

/** @throws ServiceError 409 if the email is taken. */
async function insertUser(
  database: Database,
  { email, name, password }: CheckedUser,
  vouchedBy: string | null,
  now: Date,
): Promise<string> {
  const userId = newId()
  const trust = { email_verified: vouchedBy === null, vouched_by: vouchedBy }
  const user = await database
    .insertInto('users')
    .values({ id: userId, email, name: name ?? email, ...trust, created_at: now, updated_at: now })
    .onConflict((existing) => existing.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) throw conflict('user_email_taken', 'A user with this email already exists.')
  if (password !== null) await addPassword(database, userId, password, now)
  return userId
}

async function addPassword(database: Database, userId: string, password: string, now: Date): Promise<void> {
  const account = { id: newId(), user_id: userId, provider_id: 'credential', account_id: userId, password }
  await database
    .insertInto('user_accounts')
    .values({ ...account, created_at: now, updated_at: now })
    .execute()
}

/** @returns the name as stored. @throws ServiceError 400 if it is empty, too long or contains a link. */
export async function renameUser(database: Database, userId: string, text: string, now: Date): Promise<string> {
  const name = requirePersonName(text)
  await database.updateTable('users').set({ name, updated_at: now }).where('id', '=', userId).execute()
  return name
}

/**
 * Adds a person to a tenant, with an audit entry; one who is already a member keeps their role.
 * @param stores with the transaction's database.
 */
export async function addMember(
  stores: Stores,
  tenantId: string,
  { email, ...member }: NewMember & { email: string },
  actor: Actor,
  now: Date,
): Promise<void> {
  if (!(await insertMember(stores.database, tenantId, member, now))) return
  const subject = { subjectKind: 'user', subjectId: member.userId, details: { email, role: member.role } }
  await audit(openTenant(stores, tenantId), { actor, action: 'member.joined', ...subject }, now)
}

interface NewMember {
  userId: string
  role: Role
  /** Whether the tenant is the one that the person's next session shows. */
  isChosen?: boolean
}

/**
 * As `addMember`, without an audit entry: for the owner of a new tenant, whose entry says enough.
 * @returns false if they are already a member.
 */
export async function insertMember(
  database: Database,
  tenantId: string,
  { userId, role, isChosen = false }: NewMember,
  now: Date,
): Promise<boolean> {
  const row = await database
    .insertInto('tenant_users')
    .values({ tenant_id: tenantId, user_id: userId, role, created_at: now, chosen_at: isChosen ? now : null })
    .onConflict((existing) => existing.columns(['tenant_id', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Creates a person and their membership, with an audit entry, in one transaction, the caller's if there is one. The
 * operator vouches for the address, so it counts as verified.
 * @throws ServiceError as `createUser`.
 */
export async function createTenantUser(
  stores: Stores,
  tenantId: string,
  { role, ...person }: NewUser & { role: Role },
  actor: Actor,
  now: Date,
): Promise<string> {
  const create = async (database: Database) => {
    const within = { ...stores, database }
    const email = requireEmail(person.email)
    const userId = await createVerifiedUser(within, person, now)
    await addMember(within, tenantId, { userId, email, role }, actor, now)
    await setRole(within, tenantId, userId, role, actor, now)
    // No longer needed, and anyone who has seen the link could still try it.
    const invitations = database.deleteFrom('invitations').where('tenant_id', '=', tenantId)
    await invitations.where('email', '=', email).execute()
    return userId
  }
  const { database } = stores
  return database.isTransaction ? create(database) : database.transaction().execute(create)
}

/** Gives a member a role, with an audit entry if it is another one. */
async function setRole(
  stores: Stores,
  tenantId: string,
  userId: string,
  role: Role,
  actor: Actor,
  now: Date,
): Promise<void> {
  const { rows } = await sql<{ before: string }>`
    UPDATE tenant_users AS changed SET role = ${role} FROM tenant_users AS earlier
    WHERE changed.tenant_id = ${tenantId} AND changed.user_id = ${userId} AND changed.role <> ${role}
      AND earlier.tenant_id = changed.tenant_id AND earlier.user_id = changed.user_id
    RETURNING earlier.role AS before`.execute(stores.database)
  const [changed] = rows
  if (!changed) return
  const subject = { subjectKind: 'user', subjectId: userId, details: { from: changed.before, to: role } }
  await audit(openTenant(stores, tenantId), { actor, action: 'member.role_changed', ...subject }, now)
}

/** The addresses that the sign-in library accepts; a person with any other could never sign in. */
const PLAIN = /^[a-z0-9_'+.-]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/

/** Normalizes an address. @throws ServiceError 400 if it is malformed. */
export function requireEmail(text: string): string {
  const address = parseEmail(text)
  if (address !== null && PLAIN.test(address)) return address
  const message = 'The email address is malformed. Use a plain one like ada@example.com.'
  throw new ServiceError(400, 'invalid_email', message, { details: [{ path: 'email', message }] })
}

/** Deletes the accounts of an address, with their sessions and memberships. */
export async function deleteUser(database: Database, email: string): Promise<void> {
  await database.deleteFrom('users').where('email', '=', email).execute()
}
