import { createHash, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import { lock } from '../platform/postgres/locks.ts'
import type { Stores } from '../platform/tenant.ts'
import { deleteServiceSecret, ensureServiceSecret, readServiceSecret } from './service-secrets.ts'
import { createTenant } from './tenants.ts'
import { createUser } from './users.ts'

const TOKEN = 'setup'

/** Whether the service has no account yet. */
export async function isSetupNeeded(database: Database): Promise<boolean> {
  return (await database.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

/**
 * The token that setup requires, so that the owner is the person who can read the service's console, not the first to
 * reach its port. Every process has the same token, even after a restart, until it is used.
 * @returns null if the service is already set up. @throws ServiceError 503 `secret_key_missing`.
 */
export async function setupToken(database: Database, secrets: SecretBox, now: Date): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    await lock(transaction, 'setup')
    if (await isSetupNeeded(transaction)) return ensureServiceSecret(transaction, secrets, TOKEN, now)
    // A user was created on the command line: a link printed on a console must never work later.
    await deleteServiceSecret(transaction, TOKEN)
    return null
  })
}

/**
 * Creates the first tenant and its owner.
 * @throws ServiceError 409 `setup_done` if a user already exists, so that only one of two concurrent callers succeeds;
 * 403 `setup_token_invalid`.
 */
export async function setUp(
  stores: Stores,
  secrets: SecretBox,
  { setup_token, tenant_name, time_zone, ...person }: Setup,
  now: Date,
): Promise<string> {
  return stores.database.transaction().execute(async (transaction) => {
    await lock(transaction, 'setup')
    if (!(await isSetupNeeded(transaction))) {
      throw conflict('setup_done', 'The service is already set up. Sign in, or ask for an invitation.')
    }
    const token = await readServiceSecret(transaction, secrets, TOKEN)
    if (token === null || !isSame(token, setup_token)) {
      const message = 'The setup link is not valid. Open the link that the service printed when it started.'
      throw new ServiceError(403, 'setup_token_invalid', message)
    }
    await deleteServiceSecret(transaction, TOKEN)
    // The person who sets up the service operates it, so their address counts as verified.
    const userId = await createUser(transaction, person, null, now)
    const actor = { kind: 'user', id: userId, name: person.name } as const
    const tenant = { name: tenant_name, timeZone: time_zone, ownerId: userId }
    return createTenant({ ...stores, database: transaction }, tenant, actor, now)
  })
}

interface Setup {
  setup_token: string
  name: string
  email: string
  password: string
  tenant_name: string
  time_zone?: string
}

function isSame(token: string, sent: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(token), digest(sent))
}
