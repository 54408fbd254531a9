import { rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { Actor } from '../operations/audit.ts'
import { notFound, ServiceError } from '../platform/errors.ts'
import { deleteStartingWith } from '../platform/files.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { newId } from '../platform/ids.ts'
import { requireFewerADay } from '../platform/limits.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { lock } from '../platform/postgres/locks.ts'
import { queued, type RunRows, wakeWorkers } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'

/** How long a file can be downloaded. */
export const KEPT_HOURS = 24
/** Exports of a tenant within 24 hours, failed ones too: each is a copy of all its data on the disk of the service. */
export const EXPORTS_PER_DAY = 5
const LIMIT = {
  max: EXPORTS_PER_DAY,
  code: 'export_limit_reached',
  message: `A workspace can request ${EXPORTS_PER_DAY} exports in 24 hours. Download the latest one, or try again later.`,
}

/** Owners may also export a closed tenant. */
export const EXPORT_ROWS: RunRows<'exports'> = {
  table: 'exports',
  id: 'export_id',
  lease: 'export',
  evenIfClosed: true,
}

export const Export = Type.Object(
  {
    export_id: Id,
    status: Type.Unsafe<'queued' | 'running' | 'ready' | 'failed' | 'expired'>({
      type: 'string',
      enum: ['queued', 'running', 'ready', 'failed', 'expired'],
    }),
    /** From 0 to 1. */
    progress: Type.Number(),
    /** URL of the file; null unless it is ready. */
    url: Nullable(Type.String(WORD)),
    size_bytes: Nullable(Type.Integer()),
    /** Number of records, by table. */
    counts: Type.Record(Type.String(), Type.Integer()),
    error: Nullable(Type.String(TEXT)),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
    expires_at: Nullable(Timestamp),
  },
  { title: 'Export' },
)
export type Export = Type.Static<typeof Export>

/**
 * Requests an export, in the caller's transaction. While one is queued or running, its id is returned instead.
 * @throws ServiceError 429 `export_limit_reached`
 */
export async function requestExport(
  tx: Tenant,
  actor: Actor,
  now: Date,
): Promise<{ exportId: string; isNew: boolean }> {
  await lock(tx.db, 'exports', tx.id)
  const latest = await tx.db
    .selectFrom('exports')
    .select(['export_id', 'finished_at', 'created_at'])
    .orderBy('created_at', 'desc')
    .limit(EXPORTS_PER_DAY)
    .execute()
  const underWay = latest.find(({ finished_at }) => finished_at === null)
  if (underWay) return { exportId: underWay.export_id, isNew: false }
  const added = latest.map(({ created_at }) => created_at)
  requireFewerADay(added, LIMIT, now)
  const exportId = newId()
  await tx.db
    .insertInto('exports')
    .values({ export_id: exportId, ...queued(), requested_by: JSON.stringify(actor), created_at: now })
    .execute()
  await wakeWorkers(tx)
  return { exportId, isNew: true }
}

/** A page of a tenant's exports, newest first. */
export async function listExports(
  tenant: Tenant,
  page: Page,
  now: Date,
): Promise<{ exports: Export[]; total: number }> {
  const all = tenant.db.selectFrom('exports')
  const newest = all.selectAll().orderBy('created_at', 'desc').orderBy('export_id', 'desc')
  const [rows, counted] = await Promise.all([
    newest.limit(page.limit).offset(offsetOf(page)).execute(),
    all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { exports: rows.map((row) => toExport(row, now)), total: Number(counted.count) }
}

/** @throws ServiceError 404. */
export async function readExport(tenant: Tenant, exportId: string, now: Date): Promise<Export> {
  return toExport(await requireExport(tenant, exportId), now)
}

/**
 * An export's file.
 * @throws ServiceError 404, 404 `export_file_missing`, 409 `export_not_ready`, 410 `export_expired`.
 */
export async function fileOfExport(
  tenant: Tenant,
  directory: string,
  exportId: string,
  now: Date,
): Promise<{ path: string; sizeBytes: number }> {
  const row = await requireExport(tenant, exportId)
  const { status } = toExport(row, now)
  if (status === 'expired') {
    throw new ServiceError(
      410,
      'export_expired',
      `An export can be downloaded for ${KEPT_HOURS} hours. Request a new one.`,
    )
  }
  if (status !== 'ready' || row.file === null) {
    throw new ServiceError(409, 'export_not_ready', 'The export is not ready yet. Check its progress.')
  }
  const path = pathOf(directory, row.file)
  const found = await stat(path).catch(() => null)
  if (!found) {
    const message = 'The file is not on this server. All processes of a service must share the data directory.'
    throw new ServiceError(404, 'export_file_missing', message)
  }
  return { path, sizeBytes: found.size }
}

/** Deletes the files of a tenant's exports, all of them or one. @returns how many. */
export async function expireExports(tenant: Tenant, directory: string, exportId?: string): Promise<number> {
  let query = tenant.db.selectFrom('exports').select(['export_id', 'file']).where('file', 'is not', null)
  if (exportId !== undefined) query = query.where('export_id', '=', exportId)
  const rows = await query.execute()
  for (const { export_id, file } of rows) {
    if (file !== null) await rm(pathOf(directory, file), { force: true })
    await tenant.db.updateTable('exports').set({ file: null }).where('export_id', '=', export_id).execute()
  }
  return rows.length
}

/** Deletes the files of a tenant that is being deleted, also unfinished ones. @returns how many. */
export async function deleteFilesOfTenant(tenant: Tenant, directory: string): Promise<number> {
  const rows = await tenant.db.selectFrom('exports').select('export_id').execute()
  return deleteStartingWith(
    directory,
    rows.map(({ export_id }) => export_id),
  )
}

/** The directory of the files, beside those of the databases. */
export function exportDirectory(dataDirectory: string): string {
  return resolve(dataDirectory, 'exports')
}

function pathOf(directory: string, file: string): string {
  return join(directory, file)
}

async function requireExport(tenant: Tenant, exportId: string) {
  const row = await tenant.db.selectFrom('exports').selectAll().where('export_id', '=', exportId).executeTakeFirst()
  if (!row) throw notFound('export')
  return row
}

function toExport(row: Selectable<TenantTables['exports']>, now: Date): Export {
  const status = statusOf(row, now)
  return {
    export_id: row.export_id,
    status,
    progress: row.progress,
    url: status === 'ready' ? `/v1/exports/${row.export_id}/file` : null,
    size_bytes: row.size_bytes === null ? null : Number(row.size_bytes),
    counts: row.counts as Export['counts'],
    error: row.error,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  }
}

/** The status in responses. Files of completed exports expire. */
function statusOf(
  { status, file, expires_at }: Pick<Selectable<TenantTables['exports']>, 'status' | 'file' | 'expires_at'>,
  now: Date,
): Export['status'] {
  if (status !== 'completed') return status === 'failed' || status === 'running' ? status : 'queued'
  return file === null || expires_at === null || expires_at <= now ? 'expired' : 'ready'
}
