import { type Selectable, sql } from 'kysely'
import type Type from 'typebox'
import { namesIn } from '../operations/audit.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { countActivities, dropWaiting } from './activities/outbox.ts'
import { connectorNamed } from './all-connectors.ts'
import type { Connection } from './connection-object.ts'
import { objectPosition, type Position, startPosition } from './position.ts'
import type { Counts } from './runs.ts'
import { countWaiting } from './write-back/outbox.ts'
import { writeBackState } from './write-back/write-back.ts'

export type ConnectionRow = Selectable<TenantTables['connections']>

/** Where a connection's secrets are stored. They cannot be decrypted anywhere else. */
export function sealedPlace(tenantId: string, connectionId: string): string {
  return `${tenantId}/${connectionId}/connection`
}

export async function findConnection(tenant: Tenant, connectionId: string): Promise<ConnectionRow | undefined> {
  return tenant.db.selectFrom('connections').selectAll().where('connection_id', '=', connectionId).executeTakeFirst()
}

/** Locks a connection for a change. @throws ServiceError 404 */
export async function lockConnection(tx: Tenant, connectionId: string): Promise<ConnectionRow> {
  const row = await tx.db
    .selectFrom('connections')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('connection')
  return row
}

/** @throws ServiceError 404 */
export async function readConnection(tenant: Tenant, connectionId: string): Promise<Type.Static<typeof Connection>> {
  const row = await findConnection(tenant, connectionId)
  if (!row) throw notFound('connection')
  const [connection] = await withLastRuns(tenant, [row])
  if (!connection) throw notFound('connection')
  return connection
}

/** One page of a tenant's connections, newest first, and the total. */
export async function listConnections(tenant: Tenant, page: Page) {
  const rows = await tenant.db
    .selectFrom('connections')
    .selectAll()
    .select(sql<string>`count(*) OVER ()`.as('total'))
    .orderBy('created_at', 'desc')
    .orderBy('connection_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  return { connections: await withLastRuns(tenant, rows), total: Number(rows[0]?.total ?? 0) }
}

/**
 * Pauses or resumes a connection. A resumed one pulls at once.
 * @returns whether that changed anything.
 * @throws ServiceError 404
 */
export async function pauseConnection(tx: Tenant, connectionId: string, now: Date): Promise<boolean> {
  const { state } = await lockConnection(tx, connectionId)
  if (state === 'paused') return false
  await change(tx, connectionId, { state: 'paused', error: null }, now)
  return true
}

/** @returns whether it was paused. @throws ServiceError 404 */
export async function resumeConnection(tx: Tenant, connectionId: string, now: Date): Promise<boolean> {
  const { state } = await lockConnection(tx, connectionId)
  if (state !== 'paused') return false
  await change(tx, connectionId, { state: 'waiting', next_pull_at: now }, now)
  return true
}

/** Starts a pull. @throws ServiceError 404, 409 `connection_paused` or `connection_signed_out`. */
export async function pullNow(tx: Tenant, connectionId: string, now: Date): Promise<void> {
  await lockReadable(tx, connectionId)
  await tx.db
    .updateTable('connections')
    .set({ next_pull_at: now })
    .where('connection_id', '=', connectionId)
    .where('state', '!=', 'pulling')
    .execute()
}

/**
 * Reads everything again that changed since a time. It creates no duplicates.
 * @param since null: everything. @throws ServiceError 404, 409 `connection_paused` or `connection_signed_out`.
 */
export async function rereadConnection(tx: Tenant, connectionId: string, since: Date | null, now: Date): Promise<void> {
  const { connector } = await lockReadable(tx, connectionId)
  const position = JSON.stringify(startPosition(connectorNamed(connector), since))
  await change(tx, connectionId, { position, state: 'waiting', error: null, failures: 0, next_pull_at: now }, now)
}

/** Deletes a connection and its secrets. The data that it wrote stays. @throws ServiceError 404 */
export async function deleteConnection(tx: Tenant, connectionId: string): Promise<ConnectionRow> {
  const row = await lockConnection(tx, connectionId)
  await dropWaiting(tx, connectionId)
  await tx.db.deleteFrom('connections').where('connection_id', '=', connectionId).execute()
  return row
}

/** The names of connections: their sources, for the audit log. */
export function namesOfConnections({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db.selectFrom('connections').select(['connection_id as id', 'source as name']).where('connection_id', 'in', ids),
  )
}

async function lockReadable(tx: Tenant, connectionId: string): Promise<ConnectionRow> {
  const row = await lockConnection(tx, connectionId)
  if (row.state === 'paused') throw conflict('connection_paused', 'The connection is paused. Resume it first.')
  if (row.state === 'signed_out') {
    throw conflict('connection_signed_out', 'The sign-in is no longer valid. Sign in again first.')
  }
  return row
}

type Changes = Partial<
  Pick<
    ConnectionRow,
    | 'state'
    | 'error'
    | 'failures'
    | 'next_pull_at'
    | 'write_back_error'
    | 'write_back_failures'
    | 'write_back_at'
    | 'activities'
    | 'activities_error'
    | 'activities_failures'
    | 'activities_at'
  >
> & {
  write_back?: string | null
  position?: string
  settings?: string
  sealed?: string
  account?: string
}

/** Applies a person's change to a connection. A pull in progress stores nothing more. */
export async function change(tx: Tenant, connectionId: string, changes: Changes, now: Date): Promise<void> {
  await tx.db
    .updateTable('connections')
    .set({ ...changes, revision: sql<number>`revision + 1`, updated_at: now })
    .where('connection_id', '=', connectionId)
    .execute()
}

async function withLastRuns(tenant: Tenant, rows: readonly ConnectionRow[]) {
  const ids = rows.map(({ connection_id }) => connection_id)
  const runs = await tenant.db
    .selectFrom('connection_runs')
    .distinctOn('connection_id')
    .select(['connection_id', 'run_id', 'counts', 'started_at', 'finished_at'])
    .where('connection_id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('connection_id')
    .orderBy('run_id', 'desc')
    .execute()
  const byId = new Map(runs.map((run) => [run.connection_id, run]))
  const waiting = await countWaiting(tenant, ids)
  const activities = await countActivities(tenant, ids)
  return rows.map((row) => {
    const run = byId.get(row.connection_id)
    const position = row.position as unknown as Position
    return {
      connection_id: row.connection_id,
      connector: row.connector,
      source: row.source,
      account: row.account,
      settings: row.settings as Record<string, never>,
      state: row.state as Type.Static<typeof Connection>['state'],
      error: row.error,
      objects: connectorNamed(row.connector).objects.map(({ name }) => {
        const { since, read, error = null } = objectPosition(position, name)
        return { name, read_until: since, is_reading: read !== null && error === null, error }
      }),
      last_run: run
        ? {
            run_id: run.run_id,
            counts: run.counts as Counts,
            started_at: run.started_at.toISOString(),
            finished_at: run.finished_at?.toISOString() ?? null,
          }
        : null,
      next_pull_at: row.state === 'paused' || row.state === 'signed_out' ? null : row.next_pull_at.toISOString(),
      write_back: writeBackState(row, waiting.get(row.connection_id) ?? 0),
      activities: row.activities
        ? { waiting: activities.get(row.connection_id) ?? 0, error: row.activities_error }
        : null,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  })
}
