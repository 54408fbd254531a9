import { randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { parseEmail } from '../platform/email.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)
const PASSWORD_LENGTH_MIN = 10

/**
 * Creates a person who may sign in to the dashboard as an owner of the tenant.
 * @throws ServiceError 400 for a malformed e-mail or a short password, 409 when the e-mail is taken.
 */
export async function createUser(
  database: Database,
  tenantId: string,
  { email, password }: { email: string; password: string },
  now: Date,
): Promise<string> {
  const address = parseEmail(email)
  if (address === null) throw new ServiceError(400, 'invalid_email', 'The e-mail address is malformed.')
  if (password.length < PASSWORD_LENGTH_MIN || password.length > 256) {
    throw new ServiceError(400, 'invalid_password', `A password has ${PASSWORD_LENGTH_MIN} to 256 characters.`)
  }
  const userId = newId()
  const passwordHash = await hashPassword(password)
  await database.transaction().execute(async (transaction) => {
    const user = await transaction
      .insertInto('users')
      .values({ user_id: userId, email: address, password_hash: passwordHash, created_at: now })
      .onConflict((existing) => existing.column('email').doNothing())
      .returning('user_id')
      .executeTakeFirst()
    if (!user) throw conflict('user_email_taken', 'A user with this e-mail exists already.')
    await transaction
      .insertInto('tenant_users')
      .values({ tenant_id: tenantId, user_id: userId, role: 'owner', created_at: now })
      .execute()
  })
  return userId
}

/** scrypt as `salt:key` in hex with N=16384, r=16, p=1, which is what better-auth reads. */
async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16).toString('hex')
  const key = await derive(password.normalize('NFKC'), Buffer.from(salt), 64, {
    N: 16_384,
    r: 16,
    p: 1,
    maxmem: 64 * 1024 * 1024,
  })
  return `${salt}:${key.toString('hex')}`
}
