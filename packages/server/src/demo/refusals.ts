import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { isLoopback } from '../access/loopback.ts'
import { tenantsBeside } from '../access/tenants.ts'
import { SCHEMA } from '../assembly/migrations.ts'
import { type Config, ConfigError } from '../config.ts'
import { shown } from '../platform/characters.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { ownerOfTables } from '../platform/postgres/schema.ts'

/**
 * The demo creates an owner whose password is public. So it refuses an address that other machines reach, and a
 * database with other workspaces, unless the person who starts it allows that.
 */

const NETWORK = 'allow-network'
const OTHERS = 'allow-other-workspaces'

/** What a person allows the demo by its arguments. */
export interface Allowed {
  network: boolean
  otherWorkspaces: boolean
}

/** @throws ConfigError for an unknown argument. */
export function allowedBy(args: string[]): Allowed {
  try {
    const options = { [NETWORK]: { type: 'boolean' }, [OTHERS]: { type: 'boolean' } } as const
    const { values } = parseArgs({ args, options })
    return { network: values[NETWORK] === true, otherWorkspaces: values[OTHERS] === true }
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} The demo accepts --${NETWORK} and --${OTHERS}.`)
  }
}

/** @throws ConfigError if other machines could reach the demo. */
export function requireOwnMachine({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>, allowed: Allowed): void {
  if (allowed.network) return
  const address = `http://${host.includes(':') ? `[${host}]` : host}`
  const isHostLocal = URL.canParse(address) && isLoopback(address)
  if (isHostLocal && isLoopback(publicUrl)) return
  const [name, value] = isHostLocal ? ['CDS_PUBLIC_URL', publicUrl] : ['HOST', host]
  throw new ConfigError(
    `The demo has an owner whose password is public, so it runs only where no other machine reaches it, but ${name} is ${shown(value)}. Remove ${name}. To run it in a network that you trust: npm run demo -- --${NETWORK}`,
  )
}

/**
 * Call it before anything changes.
 * @param ownTenantId the tenant of an earlier start, if there was one.
 * @throws ConfigError if the database has other tenants.
 */
export async function requireNoOthers(
  database: Kysely<DB>,
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  ownTenantId: string | null,
  allowed: Allowed,
): Promise<void> {
  if (allowed.otherWorkspaces || (await ownerOfTables(database, SCHEMA)) === 'nobody') return
  const { names, total } = await tenantsBeside(database, ownTenantId)
  if (total === 0) return
  const others = `${total === 1 ? 'the workspace' : `${total} other workspaces, among them`} ${names.map((name) => `"${shown(name)}"`).join(', ')}`
  const instead = databaseUrl === null ? 'Set CDS_DATA_DIR to a new directory' : 'Remove DATABASE_URL'
  throw new ConfigError(
    `The database has ${others}. The demo would add an owner whose password is public, and send all mail to its sandbox, so nothing was changed. ${instead}. To start it there anyway: npm run demo -- --${OTHERS}`,
  )
}
