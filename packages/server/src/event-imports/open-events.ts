import { callOfLine } from '../event-formats/call-of-line.ts'
import { type FormatName, formatOf, recognize } from '../event-formats/formats.ts'
import { type Line, readJsonLines } from '../event-formats/lines.ts'
import { unusableFile } from '../imports/csv.ts'
import type { ServiceError } from '../platform/errors.ts'
import type { Call } from '../sites/ingestion/call.ts'
import { csvFormatOf, readCsvRows, requireCsv } from './csv-rows.ts'
import { type Input, SAMPLE_BYTES } from './input.ts'

/** The events of a file. */
export interface EventsFile {
  format: FormatName
  /** Reads the lines after the first `done`, some at a time. */
  read(done: number): AsyncGenerator<Line[]>
  /** Converts a line to a call. @param warnings gets what was ignored. @returns an error if the line is not a call. */
  toCall(line: Line, warnings: string[]): Call | ServiceError
}

/**
 * Recognizes the format of a file.
 * @param named the format; null: it is recognized.
 * @throws ServiceError 400 `invalid_file`, `unknown_format`.
 */
export async function openEvents(input: Input, named: FormatName | null): Promise<EventsFile> {
  const text = input.sample
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  if (text === '') throw unusableFile(input.name, 'is empty')
  if (text.startsWith('[')) throw unusableFile(input.name, 'is a JSON list. Write one event per line instead')
  const isCsv = !text.startsWith('{')
  const read = isCsv ? await openCsv(input, text) : (done: number) => readJsonLines(input.read(), done)
  const format = named ?? recognize(input.name, await firstValues(read))
  const { toCall } = formatOf(format, isCsv)
  return {
    format,
    read,
    toCall: (line, warnings) => {
      warnings.push(...(line.warnings ?? []))
      return callOfLine(line, (value) => toCall(value, warnings))
    },
  }
}

async function openCsv(input: Input, text: string): Promise<EventsFile['read']> {
  if (input.sample.includes(0)) throw unusableFile(input.name, 'is not text')
  const csv = csvFormatOf(text.slice(0, text.search(/[\r\n]|$/)))
  await requireCsv(input.name, input.read(), csv)
  return (done) => readCsvRows(input.name, input.read(), csv, done)
}

/** The values of the lines in about the first bytes. */
async function firstValues(read: EventsFile['read']): Promise<unknown[]> {
  const values: unknown[] = []
  let characters = 0
  for await (const lines of read(0)) {
    values.push(...lines.map(({ value }) => value))
    characters += lines.reduce((sum, { text }) => sum + text.length, 0)
    if (characters >= SAMPLE_BYTES) break
  }
  return values
}
