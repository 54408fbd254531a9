import { pipeline } from 'node:stream/promises'
import { CsvError, type Options, parse } from 'csv-parse'
import { ServiceError } from '../platform/errors.ts'

const OPTIONS: Options = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  // The same limit as for requests: an unclosed quotation mark must not read the rest of the file into memory.
  max_record_size: 1024 * 1024,
}

/** How a file that programs write is written. */
export interface CsvFormat {
  encoding: 'utf-8'
  delimiter: string
}

/** RFC 4180 in UTF-8. */
export const PLAIN_CSV: CsvFormat = { encoding: 'utf-8', delimiter: ',' }

/** A file that cannot be imported. */
export function unusableFile(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_file', `${file}: ${problem}`, { cause })
}

/**
 * The records of a CSV file that a program wrote, starting with the header. Empty lines are skipped. Files of contacts
 * come from people, so `readContactRows` reads them: it has to understand more.
 * @param name the file's name in errors.
 * @throws ServiceError 400 `invalid_file` if it is not CSV (RFC 4180) of this format.
 */
export async function* parseCsv(
  bytes: AsyncIterable<Buffer>,
  format: CsvFormat,
  name: string,
): AsyncGenerator<string[]> {
  const parser = parse({ ...OPTIONS, delimiter: format.delimiter })
  try {
    // A read error ends the parser and so the loop below, which reports it.
    pipeline(bytes, requireUtf8, parser).catch(() => {})
    for await (const record of parser) yield record as string[]
  } catch (error) {
    throw explained(name, error)
  } finally {
    parser.destroy()
  }
}

/** @throws TypeError for bytes that are not UTF-8, because garbled names could go unnoticed, and for NUL. */
async function* requireUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    if (text.includes('\0')) throw new TypeError('a NUL character', { cause: NOT_TEXT })
    yield chunk
  }
  decoder.decode()
}

const NOT_TEXT = Symbol('not text')

function explained(name: string, error: unknown): unknown {
  const { code, cause } = error as { code?: string; cause?: unknown }
  if (error instanceof CsvError) return unusableFile(name, `is not valid CSV. ${error.message}`, error)
  const isNotText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || cause === NOT_TEXT
  return isNotText ? unusableFile(name, 'is not UTF-8 text. Save it as CSV in UTF-8', error) : error
}
