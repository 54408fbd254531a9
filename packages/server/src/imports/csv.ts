import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CsvError, type Options, parse } from 'csv-parse'
import { ServiceError } from '../platform/errors.ts'

const READ_BYTES = 256 * 1024
const FORMAT: Options = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  skip_empty_lines: true,
  // The same limit as for requests: an unclosed quotation mark must not read the rest of the file into memory.
  max_record_size: 1024 * 1024,
}

/** A file that cannot be imported. */
export function unusableFile(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_file', `${file}: ${problem}`, { cause })
}

/**
 * Reads a CSV file record by record, starting with the header. Empty lines are skipped.
 * @throws ServiceError 400 `invalid_file` if the file does not exist or is not CSV (RFC 4180) in UTF-8.
 */
export async function* readCsv(file: string): AsyncGenerator<string[]> {
  const parser = parse(FORMAT)
  try {
    const found = await stat(file)
    if (!found.isFile()) throw unusableFile(file, 'is not a file')
    // A read error ends the parser and thus the loop below, which reports it.
    pipeline(createReadStream(file, { highWaterMark: READ_BYTES }), refuseOtherThanText, parser).catch(() => {})
    for await (const record of parser) yield record as string[]
  } catch (error) {
    throw explained(file, error)
  } finally {
    parser.destroy()
  }
}

/** Throws on invalid UTF-8, because garbled names could go unnoticed. */
async function* refuseOtherThanText(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of chunks) {
    if (chunk.includes(0)) throw new TypeError('a NUL character', { cause: NOT_TEXT })
    decoder.decode(chunk, { stream: true })
    yield chunk
  }
  decoder.decode()
}

const NOT_TEXT = Symbol('not text')

function explained(file: string, error: unknown): unknown {
  const { code, cause } = error as { code?: string; cause?: unknown }
  if (error instanceof CsvError) return unusableFile(file, `is not valid CSV. ${error.message}`, error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return unusableFile(file, 'does not exist', error)
  if (code === 'EACCES' || code === 'EPERM') return unusableFile(file, 'cannot be read: permission denied', error)
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || cause === NOT_TEXT) {
    return unusableFile(file, 'is not UTF-8 text. Save it as CSV in UTF-8', error)
  }
  return error
}
