import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRowParser, type FileRow, type RowSize } from './contact-rows.ts'
import { unusableFile } from './csv.ts'
import { decoded, type Encoding } from './encoding.ts'

const READ_BYTES = 256 * 1024

/** How a file of contacts is written. */
export interface FileFormat {
  encoding: Encoding
  delimiter: string
  /** The line of the header; 0 if the file has none. */
  headerLine: number
}

/** The format of an import's file. */
export function formatOf(row: { encoding: string; delimiter: string; header_line: number }): FileFormat {
  return { encoding: row.encoding as Encoding, delimiter: row.delimiter, headerLine: row.header_line }
}

/** The file's bytes. @throws ServiceError 400 `invalid_file` if it does not exist, is no file, or cannot be read. */
export async function* bytesOf(path: string, name: string): AsyncGenerator<Buffer> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw unusableFile(name, 'is not a file')
    yield* createReadStream(path, { highWaterMark: READ_BYTES })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') throw unusableFile(name, 'does not exist', error)
    if (code === 'EACCES' || code === 'EPERM') throw unusableFile(name, 'cannot be read: permission denied', error)
    throw error
  }
}

/**
 * Reads the rows of a file of contacts, without its header.
 * @param name the file's name in errors. @throws ServiceError 400 `invalid_file` if it cannot be read.
 */
export async function* readContactRows(
  path: string,
  format: FileFormat,
  name: string,
  headers: readonly string[],
): AsyncGenerator<FileRow> {
  const rows = rowsOf(path, format, name, sizeOf(headers))
  if (format.headerLine > 0) await rows.next()
  yield* rows
}

/** The rows from the header on; all of them if there is none. */
async function* rowsOf(
  path: string,
  { encoding, delimiter, headerLine }: FileFormat,
  name: string,
  columns: RowSize,
): AsyncGenerator<FileRow> {
  const parser = createRowParser({ delimiter, firstLine: Math.max(headerLine, 1), columns })
  for await (const text of decoded(bytesOf(path, name), encoding)) yield* parser.push(text)
  yield* parser.end()
}

/** The number of cells in a row. Columns without a name at the end may be missing. */
export function sizeOf(headers: readonly string[]): RowSize {
  return { least: headers.findLastIndex((header) => header.trim() !== '') + 1, most: headers.length }
}
