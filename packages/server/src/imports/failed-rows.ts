import { conflict } from '../platform/errors.ts'
import type { CsvFile } from '../platform/http/csv.ts'
import type { Tenant } from '../platform/tenant.ts'
import { fileOf } from './files.ts'
import type { ImportRow } from './import-object.ts'
import { requireImport } from './imports.ts'
import type { FileColumn } from './inspect-file.ts'
import { formatOf, readContactRows } from './read-rows.ts'

const ROWS_PER_PAGE = 500

interface FailedRow {
  row: number
  message: string
  /** As they are in the file. */
  cells: string[]
}

/**
 * The failed rows of an import as a CSV file, with their cells from the uploaded file.
 * @throws ServiceError 404, 409 `import_file_deleted`.
 */
export async function failedRowsFile(
  tenant: Tenant,
  importId: string,
  directory: string,
): Promise<Omit<CsvFile<FailedRow>, 'beforeSending'>> {
  const row = await requireImport(tenant, importId)
  if (!row.has_file) throw conflict('import_file_deleted', 'The file of this import was deleted.')
  return {
    name: `failed-rows-${importId}.csv`,
    columns: failedRowColumns(row),
    pages: failedRowPages(tenant, row, fileOf(directory, importId)),
    cellsOf: failedRowCells,
  }
}

/** The columns of the download: importing it again ignores the first two. */
function failedRowColumns({ columns }: ImportRow): string[] {
  return [...['import_row', 'import_error'], ...(columns as unknown as FileColumn[]).map((each) => each.header)]
}

function failedRowCells({ row, message, cells }: FailedRow): unknown[] {
  return [row, message, ...cells]
}

async function* failedRowPages(
  tenant: Tenant,
  { import_id, file_name, ...row }: ImportRow,
  path: string,
): AsyncGenerator<FailedRow[]> {
  const headers = (row.columns as unknown as FileColumn[]).map(({ header }) => header)
  const records = readContactRows(path, formatOf(row), file_name, headers)
  let at = 0
  try {
    for (let last = 0; ; ) {
      const failed = await tenant.db
        .selectFrom('import_failed_rows')
        .select(['row', 'message'])
        .where('import_id', '=', import_id)
        .where('row', '>', last)
        .orderBy('row')
        .limit(ROWS_PER_PAGE)
        .execute()
      const page: FailedRow[] = []
      for (const each of failed) {
        let cells: string[] = []
        for (; at < each.row; at++) {
          const next = await records.next()
          if (next.done) return
          cells = next.value.cells
        }
        page.push({ ...each, cells })
        last = each.row
      }
      if (page.length > 0) yield page
      if (failed.length < ROWS_PER_PAGE) return
    }
  } finally {
    await records.return(undefined)
  }
}
