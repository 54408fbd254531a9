import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { ServiceError } from '../platform/errors.ts'

/** As much as a request may hold. An unclosed quotation mark must not read the rest of the file into memory. */
const RECORD_BYTES_MAX = 1024 * 1024
const READ_BYTES = 256 * 1024

/** A file that cannot be imported. */
export function unusableFile(file: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_file', `${file}: ${problem}`, { cause })
}

/**
 * Reads a CSV file (RFC 4180) record by record; the first is the line of column names. Empty lines are passed over.
 * @throws ServiceError 400 `invalid_file` when there is no such file, it is no UTF-8 text (before the first record), or
 * it is no CSV (at the line where that shows).
 */
export async function* readCsv(file: string): AsyncGenerator<string[]> {
  await requireText(file)
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: RECORD_BYTES_MAX,
  })
  // An error of the file ends the parser with it, and so the loop.
  pipeline(createReadStream(file, { highWaterMark: READ_BYTES }), parser, () => {})
  try {
    for await (const record of parser) yield record as string[]
  } catch (error) {
    if (error instanceof CsvError) throw unusableFile(file, `is not valid CSV. ${error.message}`, error)
    throw error
  } finally {
    parser.destroy()
  }
}

/** Reads the file once: names that come out garbled are noticed by somebody a year later. */
async function requireText(file: string): Promise<void> {
  try {
    const found = await stat(file)
    if (!found.isFile()) throw unusableFile(file, 'is not a file')
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
      if (chunk.includes(0)) throw unusableFile(file, NO_TEXT)
      decoder.decode(chunk, { stream: true })
    }
    decoder.decode()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') throw unusableFile(file, 'there is no such file', error)
    if (code === 'EACCES' || code === 'EPERM') throw unusableFile(file, 'cannot be read: permission denied', error)
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw unusableFile(file, NO_TEXT, error)
    throw error
  }
}

const NO_TEXT = 'is not UTF-8 text. Save it as CSV in UTF-8'
