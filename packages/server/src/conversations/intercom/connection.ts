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
  /** Changes after these times (seconds since 1970) have not been read yet. */
  contactsAfter: number
  conversationsAfter: number
  /** The pull in progress; null if there is none. */
  run: { startedAt: number; phase: 'contacts' | 'conversations'; cursor: string | null } | null
}

/** A connected messaging tool without its token. */
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

/**
 * Connects Intercom after it has accepted the access token. A running service starts pulling immediately.
 * @throws ServiceError 400 `intercom_login_failed` with Intercom's reply.
 */
export async function connectIntercom(
  tenant: Tenant,
  {
    secrets,
    api,
    intercomUrl,
  }: {
    secrets: SecretBox
    api: JsonApi
    /** For tests: the base URL of Intercom. */
    intercomUrl?: string
  },
  actor: Actor,
  { token, region }: { token: string; region: string },
  now: Date,
): Promise<ConnectionDescription> {
  if (!isRegion(region)) {
    throw validationError([{ path: 'region', message: `must be one of ${Object.keys(REGIONS).join(', ')}` }])
  }
  if (!TOKEN.test(token)) throw validationError([{ path: 'token', message: 'is not an Intercom access token' }])
  const signal = new AbortController().signal
  const me = await openIntercom({ api, baseUrl: intercomUrl ?? REGIONS[region], token, signal })
    .me()
    .catch((error: unknown) => {
      const message =
        error instanceof IntercomError ? error.message : `Intercom could not be reached: ${(error as Error).message}`
      throw new ServiceError(400, 'intercom_login_failed', message, { cause: error })
    })
  const workspace =
    isObject(me.app) && typeof me.app.name === 'string' ? me.app.name.slice(0, 200).toWellFormed() : null
  const settings = JSON.stringify({ region, workspace })
  const sealed = secrets.seal(token, connectionPlace(tenant.id, SOURCE))
  const start: Position = { contactsAfter: 0, conversationsAfter: 0, run: null }
  await tenant.transaction(async (tx) => {
    const common = { settings, sealed, state: 'waiting', error: null, next_pull_at: now, updated_at: now }
    const known = await tx.db
      .selectFrom('messaging_connections')
      .select('settings')
      .where('source', '=', SOURCE)
      .forUpdate()
      .executeTakeFirst()
    const before = known?.settings as { region?: string; workspace?: string } | undefined
    // A different workspace is read from the start; a new token for the same one resumes.
    const isSame = before?.region === region && before?.workspace === workspace
    await tx.db
      .insertInto('messaging_connections')
      .values({ source: SOURCE, ...common, position: JSON.stringify(start), created_at: now })
      .onConflict((row) =>
        row.column('source').doUpdateSet(isSame ? common : { ...common, position: JSON.stringify(start) }),
      )
      .execute()
    const details = { region, workspace }
    await audit(tx, { actor, action: 'source.connected', subjectKind: 'source', subjectId: SOURCE, details }, now)
  })
  return describeConnection(tenant, SOURCE)
}

/** Removes the connection and keeps what was read. @throws ServiceError 404 */
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

/** Schedules an immediate pull. @throws ServiceError 404 */
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

/** Where the token is stored. It can be decrypted nowhere else. */
export function connectionPlace(tenantId: string, source: string): string {
  return `${tenantId}/${source}/messaging-connection`
}

function isRegion(region: string): region is Region {
  return Object.hasOwn(REGIONS, region)
}
