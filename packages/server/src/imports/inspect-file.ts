import Type from 'typebox'
import { firstCharacters } from '../platform/characters.ts'
import type { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { Nullable } from '../platform/http/responses.ts'
import { personal, TEXT, valueNamedBy } from '../platform/personal.ts'
import { contentOf } from './cells.ts'
import { ColumnExample } from './column-examples.ts'
import { COLUMNS_MAX, tooManyColumns } from './columns.ts'
import type { FileRow } from './contact-rows.ts'
import { unusableFile } from './csv.ts'
import { decoded, type Encoding } from './encoding.ts'
import { type ChosenShape, shapeOf } from './file-format.ts'
import { isDecisive } from './guess-format.ts'
import { type Recognized, recognize } from './known-exports.ts'
import type { ColumnMapping } from './mapping.ts'
import { ColumnNote, createColumnSeen, proposedMapping } from './mapping-proposal.ts'
import { bytesOf, type FileFormat, readContactRows } from './read-rows.ts'
import type { ValueType } from './values.ts'

/** The header is in the first part of a file, and so are the first samples. */
const HEAD_CHARACTERS = 256 * 1024
const ROWS_MAX = 500
const CHARACTERS_MAX = 4_000_000
/** How far a column is read whose first values fit several formats. */
const DECIDING_CHARACTERS_MAX = 32_000_000
const SAMPLES_SHOWN = 3
const SAMPLE_LENGTH_MAX = 200
const HEADER_LENGTH_MAX = 500
const LINES_SHOWN = 12
const CELLS_SHOWN = 8
const CELL_LENGTH_MAX = 60

/** A column of an uploaded file. */
export const FileColumn = Type.Object(
  {
    header: Type.String(TEXT),
    /** The first different values. Empty once the file is deleted. */
    samples: Type.Array(Type.String(valueNamedBy('header')), {
      maxItems: SAMPLES_SHOWN,
      description: 'Empty once the file is deleted, and without the scope `contacts:read`.',
    }),
    note: Nullable(ColumnNote, 'What may surprise in the proposed mapping.'),
    is_ambiguous: Type.Boolean({
      description:
        'Whether the values of the column fit several formats, such as `03/04/2026` and `1,250`: the one in the proposed mapping is a guess.',
    }),
  },
  { title: 'ImportFileColumn' },
)
export type FileColumn = Type.Static<typeof FileColumn>

/** A column as responses show it, with what its mapping does. */
export const ShownColumn = Type.Object(
  {
    ...FileColumn.properties,
    example: Nullable(
      ColumnExample,
      'What the mapping makes of the first of `samples` that it changes, or that does not fit; null if there is none.',
    ),
  },
  { title: 'ImportColumn' },
)

/** One of the first lines of the file, from which a person can choose the header. */
export const FirstLine = Type.Object(
  {
    line: Type.Integer({ description: '1 is the first line of the file.' }),
    cells: Type.Array(Type.String(personal('free-text')), {
      maxItems: CELLS_SHOWN,
      description: 'The first cells, shortened.',
    }),
  },
  { title: 'ImportLine' },
)
export type FirstLine = Type.Static<typeof FirstLine>

/** What the first rows of a file show. */
export interface Inspected {
  format: FileFormat
  columns: FileColumn[]
  firstLines: FirstLine[]
  recognizedAs: Recognized | null
  mapping: ColumnMapping[]
}

/**
 * Reads the first rows of a file.
 * @param name the file's name in errors. @param chosen what a person has chosen; the rest is detected.
 * @throws ServiceError 400 `invalid_file`.
 */
export async function inspectFile(
  path: string,
  name: string,
  encoding: Encoding,
  chosen: ChosenShape = {},
): Promise<Inspected> {
  const { text, isWhole } = await headOf(path, name, encoding)
  const shape = shapeOf(text, isWhole, chosen)
  if (shape === null) throw noHeader(name, chosen, isWhole)
  const { delimiter, headerLine } = shape
  if (shape.problem !== undefined) throw unusableFile(name, shape.problem)
  const headers = shape.headers.map((header) => contentOf(header.replace(/\p{Cf}/gu, '')))
  if (headers.length > COLUMNS_MAX) throw unusableFile(name, tooManyColumns(headers))
  if (!headers.every(isStorableText))
    throw unusableFile(name, 'has a column whose name is not text. Rename it, or save the file as CSV in UTF-8')
  const format = { encoding, delimiter, headerLine }
  const seen = headers.map(createColumnSeen)
  const recognizedAs = recognize(headers)
  const propose = () =>
    proposedMapping(
      seen.map((column) => column.seen),
      recognizedAs,
      delimiter,
    )
  const rows = readContactRows(path, format, name, headers)
  try {
    await readFirst(rows, seen)
    const { ambiguous, mapping } = propose()
    await readUntilDecided(
      rows,
      seen,
      new Map(mapping.flatMap((each) => (ambiguous.has(each.column) ? [[each.column, each.type ?? 'text']] : []))),
    )
  } finally {
    await rows.return(undefined)
  }
  const { mapping, notes, ambiguous } = propose()
  return {
    format,
    columns: headers.map((header, column) => ({
      header: firstCharacters(header.trim(), HEADER_LENGTH_MAX),
      samples: (seen[column]?.seen.samples ?? []).slice(0, SAMPLES_SHOWN).map((sample) => shortened(sample)),
      note: notes[column] ?? null,
      is_ambiguous: ambiguous.has(column),
    })),
    firstLines: shape.rows.slice(0, LINES_SHOWN).map(({ line, cells }) => ({
      line,
      cells: cells.slice(0, CELLS_SHOWN).map((cell) => shortened(cell.trim(), CELL_LENGTH_MAX)),
    })),
    recognizedAs,
    mapping,
  }
}

type Seen = ReturnType<typeof createColumnSeen>

async function readFirst(rows: AsyncGenerator<FileRow>, seen: readonly Seen[]): Promise<void> {
  let characters = 0
  for (let count = 0; count < ROWS_MAX && characters <= CHARACTERS_MAX; count++) {
    const { value, done } = await rows.next()
    if (done) return
    if (value.problem !== undefined) continue
    for (const [column, cell] of value.cells.entries()) seen[column]?.add(contentOf(cell))
    characters += lengthOf(value)
  }
}

/** Reads on for columns whose values fit several formats, until each has a value that fits only one. */
async function readUntilDecided(
  rows: AsyncGenerator<FileRow>,
  seen: readonly Seen[],
  open: Map<number, ValueType>,
): Promise<void> {
  for (let characters = 0; open.size > 0 && characters <= DECIDING_CHARACTERS_MAX; ) {
    const { value, done } = await rows.next()
    if (done) return
    if (value.problem !== undefined) continue
    characters += lengthOf(value)
    for (const [column, type] of open) {
      const cell = contentOf(value.cells[column] ?? '')
      if (!isDecisive(cell, type)) continue
      seen[column]?.add(cell)
      open.delete(column)
    }
  }
}

function lengthOf({ cells }: FileRow): number {
  return cells.reduce((sum, cell) => sum + cell.length, 0)
}

function noHeader(name: string, { headerLine }: ChosenShape, isWhole: boolean): ServiceError {
  if (!isWhole && headerLine === undefined)
    return unusableFile(name, 'has no header: its first line is too long. It must name the columns')
  if (headerLine === undefined) return unusableFile(name, 'is empty. Its first row must name the columns')
  return unusableFile(name, `has no row at line ${headerLine}. Choose the line of the header`)
}

/** A value for display. */
export function shortened(text: string, lengthMax = SAMPLE_LENGTH_MAX): string {
  const clean = text.toWellFormed().replaceAll('\0', '')
  const short = firstCharacters(clean, lengthMax)
  return short.length < clean.length ? `${short}…` : short
}

async function headOf(path: string, name: string, encoding: Encoding): Promise<{ text: string; isWhole: boolean }> {
  let text = ''
  for await (const part of decoded(bytesOf(path, name), encoding)) {
    text += part
    if (text.length >= HEAD_CHARACTERS) return { text: text.slice(0, HEAD_CHARACTERS), isWhole: false }
  }
  return { text, isWhole: true }
}
