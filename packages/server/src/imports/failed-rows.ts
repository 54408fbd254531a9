import type { Tenant } from '../platform/tenant.ts'
import { readCsv } from './csv.ts'
import type { Encoding } from './encoding.ts'
import type { ImportRow } from './import-object.ts'
import type { FileColumn } from './inspect-file.ts'

const ROWS_PER_PAGE = 500

interface FailedRow {
  row: number
  code: string
  message: string
  /** As they are in the file. */
  cells: string[]
}

/** The columns of the download: importing it again ignores the first three. */
export function failedRowColumns({ columns }: ImportRow): string[] {
  return [
    ...['import_row', 'error_code', 'error_message'],
    ...(columns as unknown as FileColumn[]).map((each) => each.header),
  ]
}

export function failedRowCells({ row, code, message, cells }: FailedRow): unknown[] {
  return [row, code, message, ...cells]
}

/** The failed rows of an import, with their cells from the file. */
export async function* failedRowPages(
  tenant: Tenant,
  { import_id, encoding, delimiter, file_name }: ImportRow,
  path: string,
): AsyncGenerator<FailedRow[]> {
  const records = readCsv(path, { encoding: encoding as Encoding, delimiter }, file_name)
  let at = 0
  try {
    await records.next()
    for (let last = 0; ; ) {
      const failed = await tenant.db
        .selectFrom('import_failed_rows')
        .select(['row', 'code', 'message'])
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
          cells = next.value
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
