import type { ErasureSubject } from '../contacts/erasure-subject.ts'
import { deleteStartingWith } from '../platform/files.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { RELEASED } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, DAY_MS } from '../platform/time.ts'
import { deleteFile, fileOf } from './files.ts'
import { OPEN_STATES } from './import-object.ts'
import type { FileColumn } from './inspect-file.ts'
import { EXPIRE_IMPORT } from './jobs.ts'

/** While an import is written or undone, its content is kept, and checked again after this time. */
const AT_WORK_KEPT_MS = DAY_MS

/** Deletes what an import keeps for a time: its file, its failed rows and the data for undoing it. Its contacts stay listed. */
export async function expireImport(
  tenant: Tenant,
  { jobs, clock, directory }: { jobs: Pick<Jobs, 'send'>; clock: Clock; directory: string },
  importId: string,
): Promise<void> {
  const row = await tenant.db
    .selectFrom('imports')
    .select(['state', 'expires_at'])
    .where('import_id', '=', importId)
    .executeTakeFirst()
  const now = clock()
  const isAtWork = row !== undefined && ['running', 'undoing'].includes(row.state)
  const expiresAt = isAtWork ? new Date(now.getTime() + AT_WORK_KEPT_MS) : row?.expires_at
  if (expiresAt && expiresAt > now) {
    const startAfter = Math.ceil((expiresAt.getTime() - now.getTime()) / 1_000)
    await jobs.send(tenant, EXPIRE_IMPORT, { importId }, { startAfter })
    return
  }
  await deleteFile(fileOf(directory, importId))
  await tenant.transaction(async (tx) => {
    const changes = tx.db.updateTable('import_changes').set({ replaced: null })
    await changes.where('import_id', '=', importId).where('replaced', 'is not', null).execute()
    await tx.db.deleteFrom('import_companies').where('import_id', '=', importId).execute()
    await deleteContent(tx, importId, now, 'The file was deleted seven days after its upload.')
  })
}

/**
 * Deletes the tenant's files that were uploaded before an erasure was requested, because each may contain the person, and
 * ends their imports. @returns how many.
 */
export async function deleteImportFiles(
  tenant: Tenant,
  directory: string,
  uploadedBefore: Date,
  now: Date,
): Promise<number> {
  const rows = await tenant.db
    .selectFrom('imports')
    .select('import_id')
    .where('has_file', '=', true)
    .where('created_at', '<=', uploadedBefore)
    .execute()
  for (const { import_id } of rows) {
    await deleteFile(fileOf(directory, import_id))
    await deleteContent(tenant, import_id, now, 'The file was deleted, because a contact was erased. Upload it again.')
  }
  return rows.length
}

/** Deletes the files of a tenant that is being deleted, also unfinished uploads. @returns how many. */
export async function deleteFilesOfTenant(tenant: Tenant, directory: string): Promise<number> {
  const rows = await tenant.db.selectFrom('imports').select('import_id').execute()
  return deleteStartingWith(
    directory,
    rows.map(({ import_id }) => import_id),
  )
}

/** Deletes the person's values that imports replaced. */
export async function eraseFromImports(tx: Tenant, { contactId }: ErasureSubject): Promise<Record<string, number>> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('import_changes')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  return { import_changes: Number(numDeletedRows) }
}

/** Deletes the parts of a file that were stored, and ends its import if it has not. */
async function deleteContent(tenant: Tenant, importId: string, now: Date, reason: string): Promise<void> {
  await tenant.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('imports')
      .select(['state', 'columns'])
      .where('import_id', '=', importId)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return
    const columns = (row.columns as unknown as FileColumn[]).map((column) => ({ ...column, samples: [] }))
    const isOpen = (OPEN_STATES as readonly string[]).includes(row.state)
    await tx.db
      .updateTable('imports')
      .set({
        has_file: false,
        columns: JSON.stringify(columns),
        first_lines: '[]',
        readings: '[]',
        warnings: '[]',
        preview: null,
        ...(isOpen
          ? {
              state: 'cancelled',
              finished_at: now,
              error_code: 'import_file_deleted',
              error_message: reason,
              ...RELEASED,
            }
          : {}),
      })
      .where('import_id', '=', importId)
      .execute()
    await tx.db.deleteFrom('import_failed_rows').where('import_id', '=', importId).execute()
  })
}
