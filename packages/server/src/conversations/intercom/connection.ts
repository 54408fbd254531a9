import { type Actor, audit } from '../../operations/audit.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { notFound, ServiceError, validationError } from '../../platform/errors.ts'
import type { JsonApi } from '../../platform/outbound/json-api.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { IntercomError, isObject, openIntercom, REGIONS, type Region } from './api.ts'
import { SOURCE } from './map.ts'

const TOKEN = /^[\x21-\x7e]{10,2048}$/

/** How far Intercom has been read. */
export interface Position {
  /** What changed after these moments (seconds since 1970) has not been read yet. */
  contactsAfter: number
  conversationsAfter: number
  /** The pull under way: when it began, what it reads, and where it stands. */
  run: { startedAt: number; phase: 'contacts' | 'conversations'; cursor: string | null } | null
}

/** A connected messaging tool as its owner sees it; its token is never shown. */
export interface ConnectionDescription {
  source: string
  region: string
  workspace: string | null
  /** waiting, pulling, failed. */
  state: string
  error: string | null
  synced_at: string | null
  next_pull_at: string
}

export interface ConnectDependencies {
  secrets: SecretBox
  api: JsonApi
  /** For tests: where Intercom is. */
  intercomUrl?: string
}

/**
 * Connects Intercom with an access token, after Intercom has accepted it. Pulling begins at once, where a service runs.
 * @throws ServiceError 400 `intercom_login_failed` with what Intercom answered.
 */
export async function connectIntercom(
  tenant: Tenant,
  { secrets, api, intercomUrl }: ConnectDependencies,
  actor: Actor,
  { token, region }: { token: string; region: string },
  now: Date,
): Promise<ConnectionDescription> {
  if (!isRegion(region)) {
    throw validationError([{ path: 'region', message: `must be one of ${Object.keys(REGIONS).join(', ')}` }])
  }
  if (!TOKEN.test(token)) throw validationError([{ path: 'token', message: 'is not an access token of Intercom' }])
  const signal = new AbortController().signal
  const me = await openIntercom({ api, baseUrl: intercomUrl ?? REGIONS[region], token, signal })
    .me()
    .catch((error: unknown) => {
      const said =
        error instanceof IntercomError ? error.message : `Intercom could not be reached: ${(error as Error).message}`
      throw new ServiceError(400, 'intercom_login_failed', said, { cause: error })
    })
  const workspace =
    isObject(me.app) && typeof me.app.name === 'string' ? me.app.name.slice(0, 200).toWellFormed() : null
  const settings = JSON.stringify({ region, workspace })
  const sealed = secrets.seal(token, connectionPlace(tenant.id, SOURCE))
  const begun: Position = { contactsAfter: 0, conversationsAfter: 0, run: null }
  await tenant.transaction(async (tx) => {
    const common = { settings, sealed, state: 'waiting', error: null, next_pull_at: now, updated_at: now }
    const known = await tx.db
      .selectFrom('messaging_connections')
      .select('settings')
      .where('source', '=', SOURCE)
      .forUpdate()
      .executeTakeFirst()
    const before = known?.settings as { region?: string; workspace?: string } | undefined
    // Another workspace is read from its beginning; a new token of the same one goes on.
    const isSame = before?.region === region && before?.workspace === workspace
    await tx.db
      .insertInto('messaging_connections')
      .values({ source: SOURCE, ...common, position: JSON.stringify(begun), created_at: now })
      .onConflict((row) =>
        row.column('source').doUpdateSet(isSame ? common : { ...common, position: JSON.stringify(begun) }),
      )
      .execute()
    const details = { region, workspace }
    await audit(tx, { actor, action: 'source.connected', subjectKind: 'source', subjectId: SOURCE, details }, now)
  })
  return describeConnection(tenant, SOURCE)
}

/** Ends the connection; what was read stays. @throws ServiceError 404 */
export async function disconnectSource(tenant: Tenant, actor: Actor, source: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('messaging_connections')
      .where('source', '=', source)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('connected source')
    await audit(tx, { actor, action: 'source.disconnected', subjectKind: 'source', subjectId: source }, now)
  })
}

/** Has a connected source read as soon as a running service can. @throws ServiceError 404 */
export async function syncSource(tenant: Tenant, source: string, now: Date): Promise<ConnectionDescription> {
  await tenant.db.updateTable('messaging_connections').set({ next_pull_at: now }).where('source', '=', source).execute()
  return describeConnection(tenant, source)
}

/** @throws ServiceError 404 for a source that is not connected. */
export async function describeConnection(tenant: Tenant, source: string): Promise<ConnectionDescription> {
  const row = await tenant.db
    .selectFrom('messaging_connections')
    .selectAll()
    .where('source', '=', source)
    .executeTakeFirst()
  if (!row) throw notFound('connected source')
  const { region, workspace } = row.settings as unknown as { region: string; workspace: string | null }
  return {
    source: row.source,
    region,
    workspace,
    state: row.state,
    error: row.error,
    synced_at: row.synced_at?.toISOString() ?? null,
    next_pull_at: row.next_pull_at.toISOString(),
  }
}

/** Where the token is stored: it opens nowhere else. */
export function connectionPlace(tenantId: string, source: string): string {
  return `${tenantId}/${source}/messaging-connection`
}

function isRegion(region: string): region is Region {
  return Object.hasOwn(REGIONS, region)
}
