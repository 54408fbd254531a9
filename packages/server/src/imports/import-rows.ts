import type { Properties } from '../contacts/properties.ts'
import { replacedBy } from '../contacts/undo-write.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { newId } from '../platform/ids.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import { completeRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import type { RecordResult } from '../sources/apply-records.ts'
import { type WrittenContact, writeRecords } from '../sources/write-records.ts'
import type { Column } from './columns.ts'
import { KEPT_DAYS } from './files.ts'
import { rowSentence } from './row-problems.ts'
import { createConsentCount, type ImportConsent } from './silenced.ts'
import { forEachChunk, type MappedFile, SOURCE, withStagedRows } from './stage-file.ts'
import type { Row } from './staging.ts'
import type { Task } from './task.ts'

type Ranges = [first: number, last: number][]

/**
 * Writes the rows of an import that are not written yet. Each transaction also stores which rows it wrote, with their
 * results and what they replaced, so that an interrupted import continues and counts every row once.
 */
export async function importRows(task: Task, file: MappedFile, writing: WriteServices): Promise<void> {
  const { tenant, importId } = task
  const isDone = await rowsDone(tenant, importId)
  const { tag } = task.run.row
  const source = tag === null ? SOURCE : { ...SOURCE, tag }
  await withStagedRows(tenant, { ...file, isDone }, async ({ rowCount, warnings }, chunks) => {
    await task.check()
    const read = { row_count: rowCount, warnings: JSON.stringify(warnings) }
    await tenant.db.updateTable('imports').set(read).where('import_id', '=', importId).execute()
    await forEachChunk(chunks, async (rows) => {
      const records = rows.map(({ record }) => record)
      await writeRecords(tenant, writing, source, records, async (tx, { results, contacts, companiesCreated }) => {
        await task.check(tx)
        await storeChunk(tx, importId, rows, results, consentOf(file.columns, rows, results, contacts))
        await storeFailed(tx, importId, rows, results)
        await storeChanges(tx, importId, contacts)
        await storeCompanies(tx, importId, companiesCreated)
      })
      await tenant.db
        .updateTable('imports')
        .set({ failures: 0 })
        .where('import_id', '=', importId)
        .where('failures', '>', 0)
        .execute()
    })
  })
  const now = writing.clock()
  await completeRun(task.run, { progress: 1, expires_at: new Date(now.getTime() + KEPT_DAYS * DAY_MS) }, now)
}

/** The rows that earlier attempts wrote. */
async function rowsDone(tenant: Tenant, importId: string): Promise<(row: number) => boolean> {
  const chunks = await tenant.db.selectFrom('import_chunks').select('rows').where('import_id', '=', importId).execute()
  const ranges = chunks.flatMap(({ rows }) => rows as unknown as Ranges)
  const lastRow = ranges.reduce((max, [, last]) => Math.max(max, last), 0)
  const done = new Uint8Array(lastRow + 1)
  for (const [first, last] of ranges) done.fill(1, first, last + 1)
  return (row) => done[row] === 1
}

async function storeChunk(
  tx: Tenant,
  importId: string,
  rows: readonly Row[],
  results: readonly RecordResult[],
  consent: ImportConsent,
): Promise<void> {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  for (const { status } of results) counts[status]++
  const ranges: Ranges = []
  for (const { row } of rows) {
    const last = ranges.at(-1)
    if (last && last[1] === row - 1) last[1] = row
    else ranges.push([row, row])
  }
  await tx.db
    .insertInto('import_chunks')
    .values({
      import_id: importId,
      chunk_id: newId(),
      rows: JSON.stringify(ranges),
      ...counts,
      consent: JSON.stringify(consent),
    })
    .execute()
}

function consentOf(
  columns: readonly Column[],
  rows: readonly Row[],
  results: readonly RecordResult[],
  written: readonly WrittenContact[],
): ImportConsent {
  const changed = written.map(({ before, after }) => {
    const values = { before: (before?.row.properties ?? {}) as Properties, after: after.row.properties as Properties }
    return [after.row.contact_id, values] as const
  })
  const consent = createConsentCount(columns)
  consent.add(rows, results, new Map(changed))
  return consent.counts
}

async function storeFailed(
  tx: Tenant,
  importId: string,
  rows: readonly Row[],
  results: readonly RecordResult[],
): Promise<void> {
  const failed = rows.flatMap(({ row }, index) => {
    const result = results[index]
    if (result?.status !== 'failed') return []
    const { code, message } = result.error
    return [{ import_id: importId, row, code, message: rowSentence(message) }]
  })
  if (failed.length === 0) return
  const types = { import_id: 'uuid', row: 'integer', code: 'text', message: 'text' } as const
  await tx.db
    .insertInto('import_failed_rows')
    .columns(['import_id', 'row', 'code', 'message'])
    .expression((eb) =>
      eb.selectFrom(recordset(failed, 'failed', types)).select(['import_id', 'row', 'code', 'message']),
    )
    .execute()
}

async function storeChanges(tx: Tenant, importId: string, written: readonly WrittenContact[]): Promise<void> {
  const changes = written.flatMap(({ before, after }) => {
    const record = after.records.find(({ source }) => source === SOURCE.source)
    if (!record) return []
    const at = record.updated_at
    const replaced = before === null ? null : replacedBy(SOURCE.source, before, after, at)
    return [{ import_id: importId, contact_id: after.row.contact_id, written_at: at.toISOString(), replaced }]
  })
  if (changes.length === 0) return
  const types = { import_id: 'uuid', contact_id: 'uuid', written_at: 'timestamptz', replaced: 'jsonb' } as const
  await tx.db
    .insertInto('import_changes')
    .columns(['import_id', 'contact_id', 'written_at', 'replaced'])
    .expression((eb) =>
      eb.selectFrom(recordset(changes, 'changes', types)).select(['import_id', 'contact_id', 'written_at', 'replaced']),
    )
    .execute()
}

async function storeCompanies(tx: Tenant, importId: string, companyIds: readonly string[]): Promise<void> {
  if (companyIds.length === 0) return
  const rows = companyIds.map((company_id) => ({ import_id: importId, company_id }))
  await tx.db.insertInto('import_companies').values(rows).execute()
}
