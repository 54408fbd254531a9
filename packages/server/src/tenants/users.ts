import { parseEmail } from '../platform/email.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import type { Role } from './roles.ts'

const NAME_LENGTH_MAX = 200

export interface NewUser {
  email: string
  /** null for a person who signs in at the OpenID provider only. */
  password: string | null
  /** The e-mail address, when it is missing. */
  name?: string
}

/**
 * Creates a person who may sign in to the dashboard.
 * @throws ServiceError 400 for a malformed e-mail or name or a short password, 409 when the e-mail is taken.
 */
export async function createUser(database: Database, person: NewUser, now: Date): Promise<string> {
  const email = requireEmail(person.email)
  const name = person.name?.trim() || email
  requireShort(name)
  if (person.password !== null) requireGoodPassword(person.password)
  const password = person.password === null ? null : await hashPassword(person.password)
  const userId = newId()
  const times = { created_at: now, updated_at: now }
  const user = await database
    .insertInto('users')
    // Whoever made this person knows the address: its owner by an invitation, the operator by the command line.
    .values({ id: userId, email, name, email_verified: true, ...times })
    .onConflict((existing) => existing.column('email').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!user) throw conflict('user_email_taken', 'A user with this e-mail exists already.')
  if (password !== null) {
    await database
      .insertInto('user_accounts')
      .values({ id: newId(), user_id: userId, provider_id: 'credential', account_id: userId, password, ...times })
      .execute()
  }
  return userId
}

/** @returns the name as it is kept. @throws ServiceError 400 for one that is empty or too long. */
export async function renameUser(database: Database, userId: string, text: string, now: Date): Promise<string> {
  const name = text.trim()
  if (name === '') throw new ServiceError(400, 'invalid_name', 'A name cannot be empty.')
  requireShort(name)
  await database.updateTable('users').set({ name, updated_at: now }).where('id', '=', userId).execute()
  return name
}

function requireShort(name: string): void {
  if (name.length <= NAME_LENGTH_MAX) return
  throw new ServiceError(400, 'invalid_name', `A name has at most ${NAME_LENGTH_MAX} characters.`)
}

/** Gives a person a role in a tenant. @returns false when the person has one there already, which stays. */
export async function addMember(
  database: Database,
  tenantId: string,
  { userId, role }: { userId: string; role: Role },
  now: Date,
): Promise<boolean> {
  const row = await database
    .insertInto('tenant_users')
    .values({ tenant_id: tenantId, user_id: userId, role, created_at: now })
    .onConflict((existing) => existing.columns(['tenant_id', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Creates a person with a role in a tenant, both or neither; within the caller's transaction, if there is one. @throws ServiceError as `createUser`. */
export async function createTenantUser(
  database: Database,
  tenantId: string,
  { role, ...person }: NewUser & { role: Role },
  now: Date,
): Promise<string> {
  const create = async (transaction: Database) => {
    const userId = await createUser(transaction, person, now)
    await addMember(transaction, tenantId, { userId, role }, now)
    return userId
  }
  return database.isTransaction ? create(database) : database.transaction().execute(create)
}

/** What the sign-in library takes for an e-mail address; a person with another could never sign in. */
const PLAIN = /^[a-z0-9_'+.-]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/

/** The address as it is kept. @throws ServiceError 400 */
export function requireEmail(text: string): string {
  const address = parseEmail(text)
  if (address !== null && PLAIN.test(address)) return address
  const message = 'The e-mail address is malformed. Sign-in takes plain ones like ada@example.com.'
  throw new ServiceError(400, 'invalid_email', message, { details: [{ path: 'email', message }] })
}
