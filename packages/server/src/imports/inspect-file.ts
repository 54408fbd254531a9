import { open } from 'node:fs/promises'
import Type from 'typebox'
import { firstCharacters } from '../platform/characters.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { COLUMNS_MAX, tooManyColumns } from './columns.ts'
import { type CsvFormat, readCsv, unusableFile } from './csv.ts'
import type { Encoding } from './encoding.ts'
import { type Recognized, recognize } from './known-exports.ts'
import { type ColumnMapping, proposedMapping } from './mapping.ts'

const DELIMITERS = [',', ';', '\t']
/** The header is in the first part of a file, and so are the samples. */
const HEAD_BYTES = 64 * 1024
const ROWS_MAX = 500
const CHARACTERS_MAX = 4_000_000
const SAMPLES_SHOWN = 3
const SAMPLE_LENGTH_MAX = 200
const HEADER_LENGTH_MAX = 500

/** A column of an uploaded file. */
export const FileColumn = Type.Object(
  {
    header: Type.String(),
    /** The first different values. Empty once the file is deleted. */
    samples: Type.Array(Type.String(), { maxItems: SAMPLES_SHOWN }),
  },
  { title: 'ImportColumn' },
)
export type FileColumn = Type.Static<typeof FileColumn>

/** What the first rows of a file show. */
export interface Inspected {
  format: CsvFormat
  columns: FileColumn[]
  recognizedAs: Recognized | null
  mapping: ColumnMapping[]
}

/** Reads the first rows of a file. @param name the file's name in errors. @throws ServiceError 400 `invalid_file`. */
export async function inspectFile(path: string, name: string, encoding: Encoding): Promise<Inspected> {
  const format = { encoding, delimiter: delimiterOf(await headOf(path, encoding)) }
  const records = readCsv(path, format, name)
  const samples: string[][] = []
  let header: string[] | undefined
  let characters = 0
  let rows = 0
  for await (const cells of records) {
    if (!header) {
      header = cells
      if (header.length > COLUMNS_MAX) throw unusableFile(name, tooManyColumns(header))
      samples.push(...header.map(() => []))
      continue
    }
    for (const [column, cell] of cells.entries()) addSample(samples[column], cell)
    characters += cells.reduce((sum, cell) => sum + cell.length, 0)
    if (++rows >= ROWS_MAX || characters > CHARACTERS_MAX) break
  }
  if (!header) throw unusableFile(name, 'is empty. The first line must name the columns')
  if (!header.every(isStorableText)) throw unusableFile(name, 'has a column whose name is not text')
  const recognizedAs = recognize(header)
  return {
    format,
    columns: header.map((text, column) => ({
      header: firstCharacters(text.trim(), HEADER_LENGTH_MAX),
      samples: (samples[column] ?? []).slice(0, SAMPLES_SHOWN).map((sample) => shortened(sample)),
    })),
    recognizedAs,
    mapping: proposedMapping(header, samples, recognizedAs),
  }
}

function addSample(samples: string[] | undefined, cell: string): void {
  const value = cell.trim()
  if (value !== '' && samples && !samples.includes(value)) samples.push(value)
}

/** A value for display. */
export function shortened(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', '')
  const short = firstCharacters(clean, SAMPLE_LENGTH_MAX)
  return short.length < clean.length ? `${short}…` : short
}

async function headOf(path: string, encoding: Encoding): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return new TextDecoder(encoding).decode(buffer.subarray(0, bytesRead), { stream: true })
  } finally {
    await file.close()
  }
}

/** The delimiter that occurs most often in the header, outside of quotation marks. */
function delimiterOf(head: string): string {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]))
  let isQuoted = false
  let hasContent = false
  for (const character of head) {
    if (character === '"') isQuoted = !isQuoted
    if (isQuoted) continue
    if (character === '\n' || character === '\r') {
      if (hasContent) break
      continue
    }
    hasContent = true
    const count = counts.get(character)
    if (count !== undefined) counts.set(character, count + 1)
  }
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best?.[0] ?? ','
}
