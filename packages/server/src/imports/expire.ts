import { sql } from 'kysely'
import { deleteStartingWith } from '../platform/files.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import { cancelRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { deleteFile, fileOf } from './files.ts'
import { IMPORT_ROWS, OPEN_STATES } from './import-object.ts'
import type { FileColumn } from './inspect-file.ts'

/** Imports whose content has been kept for its time. While one is written or undone, it is kept longer. */
export function isExpired(now: Date) {
  return sql<boolean>`NOT is_expired AND expires_at <= ${now} AND state NOT IN ('running', 'undoing')`
}

/** Deletes what an import keeps for a time: its file, its failed rows and the data for undoing it. Its contacts stay listed. */
export async function expireImport(tenant: Tenant, directory: string, importId: string, now: Date): Promise<void> {
  await deleteFile(fileOf(directory, importId))
  await tenant.transaction(async (tx) => {
    const changes = tx.db.updateTable('import_changes').set({ replaced: null })
    await changes.where('import_id', '=', importId).where('replaced', 'is not', null).execute()
    await tx.db.deleteFrom('import_companies').where('import_id', '=', importId).execute()
    await deleteContent(tx, importId, now, 'The file was deleted seven days after its upload.')
    await tx.db.updateTable('imports').set({ is_expired: true }).where('import_id', '=', importId).execute()
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
    if (isOpen) await cancelRun(IMPORT_ROWS, tx, importId, now)
    await tx.db
      .updateTable('imports')
      .set({
        has_file: false,
        columns: JSON.stringify(columns),
        first_lines: '[]',
        readings: '[]',
        warnings: '[]',
        preview: null,
        ...(isOpen ? { error_code: 'import_file_deleted', error: reason } : {}),
      })
      .where('import_id', '=', importId)
      .execute()
    await tx.db.deleteFrom('import_failed_rows').where('import_id', '=', importId).execute()
  })
}
