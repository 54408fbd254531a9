import { randomBytes } from 'node:crypto'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Database } from '../platform/postgres/database.ts'

/**
 * Returns a random secret of the service itself. The first process that needs it creates it. It is stored encrypted in
 * the database, so that all processes share it and it survives restarts.
 */
export async function ensureServiceSecret(
  database: Database,
  secrets: SecretBox,
  name: string,
  now: Date,
): Promise<string> {
  const known = await readServiceSecret(database, secrets, name)
  if (known !== null) return known
  const sealed = secrets.seal(randomBytes(32).toString('base64url'), serviceSecretPlace(name))
  await database
    .insertInto('service_secrets')
    .values({ name, sealed, created_at: now })
    .onConflict((existing) => existing.column('name').doNothing())
    .execute()
  const stored = await readServiceSecret(database, secrets, name)
  if (stored === null) throw new Error(`The secret ${name} of the service was removed while it was being created.`)
  return stored
}

export async function readServiceSecret(database: Database, secrets: SecretBox, name: string): Promise<string | null> {
  const row = await database.selectFrom('service_secrets').select('sealed').where('name', '=', name).executeTakeFirst()
  return row ? secrets.open(row.sealed, serviceSecretPlace(name)) : null
}

export async function deleteServiceSecret(database: Database, name: string): Promise<void> {
  await database.deleteFrom('service_secrets').where('name', '=', name).execute()
}

/** The place that a secret of the service itself is encrypted for. */
export function serviceSecretPlace(name: string): string {
  return `service_secrets/${name}`
}
