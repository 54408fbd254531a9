import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CsvError, type Options, parse } from 'csv-parse'
import { ServiceError } from '../platform/errors.ts'
import { type Encoding, isNotText, toUtf8 } from './encoding.ts'

const READ_BYTES = 256 * 1024
const OPTIONS: Options = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  // The same limit as for requests: an unclosed quotation mark must not read the rest of the file into memory.
  max_record_size: 1024 * 1024,
}

/** How a file is written. */
export interface CsvFormat {
  encoding: Encoding
  delimiter: string
}

/** RFC 4180 in UTF-8. */
export const PLAIN_CSV: CsvFormat = { encoding: 'utf-8', delimiter: ',' }

/** A file that cannot be imported. */
export function unusableFile(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_file', `${file}: ${problem}`, { cause })
}

/**
 * Reads a CSV file record by record, starting with the header. Empty lines are skipped.
 * @param name the file's name in errors.
 * @throws ServiceError 400 `invalid_file` if the file does not exist or is not CSV (RFC 4180) of this format.
 */
export async function* readCsv(file: string, format = PLAIN_CSV, name = file): AsyncGenerator<string[]> {
  try {
    const found = await stat(file)
    if (!found.isFile()) throw unusableFile(name, 'is not a file')
    yield* parseCsv(createReadStream(file, { highWaterMark: READ_BYTES }), format, name)
  } catch (error) {
    throw explained(name, format, error)
  }
}

/** The records of a CSV file's bytes, like `readCsv`. */
export async function* parseCsv(
  bytes: AsyncIterable<Buffer>,
  format: CsvFormat,
  name: string,
): AsyncGenerator<string[]> {
  const parser = parse({ ...OPTIONS, delimiter: format.delimiter })
  try {
    // A read error ends the parser and so the loop below, which reports it.
    pipeline(bytes, (chunks) => toUtf8(chunks, format.encoding), parser).catch(() => {})
    for await (const record of parser) yield record as string[]
  } catch (error) {
    throw explained(name, format, error)
  } finally {
    parser.destroy()
  }
}

function explained(name: string, { encoding }: CsvFormat, error: unknown): unknown {
  const { code } = error as { code?: string }
  if (error instanceof CsvError) return unusableFile(name, `is not valid CSV. ${error.message}`, error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return unusableFile(name, 'does not exist', error)
  if (code === 'EACCES' || code === 'EPERM') return unusableFile(name, 'cannot be read: permission denied', error)
  if (isNotText(error)) {
    return unusableFile(name, `is not ${encoding.toUpperCase()} text. Save it as CSV in UTF-8`, error)
  }
  return error
}
