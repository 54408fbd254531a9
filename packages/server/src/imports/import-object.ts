import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import { Id, Nullable, RecordError, Timestamp } from '../platform/http/responses.ts'
import { personal, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { RunRows } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { Encoding } from './encoding.ts'
import { FirstLine, ShownColumn } from './inspect-file.ts'
import { RECOGNIZED } from './known-exports.ts'
import { ColumnMapping } from './mapping.ts'
import { Remembered } from './remembered-mapping.ts'
import { RowWarning } from './row-warnings.ts'
import { ImportConsent } from './silenced.ts'

export const STATES = [
  'uploaded',
  'mapped',
  'previewing',
  'previewed',
  'running',
  'completed',
  'failed',
  'cancelled',
  'undoing',
  'undone',
] as const
export type ImportState = (typeof STATES)[number]

export const Counts = Type.Object(
  {
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    failed: Type.Integer(),
  },
  { title: 'ImportCounts' },
)
export type Counts = Type.Static<typeof Counts>

/** A row that was not imported. */
export const FailedRow = Type.Object(
  {
    row: Type.Integer({ description: '1 is the row below the header.' }),
    code: Type.String(WORD),
    // It has the cell that is wrong.
    message: Type.String(personal('free-text')),
  },
  { title: 'FailedRow' },
)

export const Import = Type.Object(
  {
    import_id: Id,
    _id: Id,
    file_name: Type.String(TEXT),
    size_bytes: Type.Integer(),
    encoding: Encoding,
    encodings: Type.Array(
      Type.Object({ encoding: Encoding, words: Type.String(personal('free-text')) }, { title: 'ImportEncoding' }),
      {
        description:
          'Encodings that the file may have, the likeliest first, and how its first words that are not ASCII read in each. Empty if the encoding is certain, and without the scope `contacts:read`.',
      },
    ),
    delimiter: Type.String(WORD),
    header_line: Type.Integer({
      description: 'The line that names the columns; 1 is the first line of the file, and 0 means that none does.',
    }),
    first_lines: Type.Array(FirstLine, {
      description:
        'The first lines of the file. Empty once the file is deleted, and without the scope `contacts:read`.',
    }),
    recognized_as: Nullable(Type.Enum(RECOGNIZED), 'The system whose export the file was recognized as.'),
    state: Type.Enum([...STATES]),
    columns: Type.Array(ShownColumn),
    mapping: Type.Array(ColumnMapping, { description: 'Proposed by the service until you set it.' }),
    remembered: Nullable(
      Remembered,
      'The last import with the same columns, if the proposed mapping is the one of that import.',
    ),
    warnings: Type.Array(RowWarning, {
      description:
        'What was left out of rows or kept as text; known once the file has been read. Empty without the scope `contacts:read`.',
    }),
    row_count: Nullable(Type.Integer(), 'null until the file has been read to its end.'),
    progress: Type.Number({ description: 'The progress of the preview, the import or the undo, from 0 to 1.' }),
    preview: Nullable(Counts, 'What the import would do, as of the latest preview.'),
    consent: Nullable(
      ImportConsent,
      'How many contacts get no more mail: what the rows imported so far did, or, before the start, what the latest preview says.',
    ),
    counts: Counts,
    tag: Nullable(Type.String(TEXT), 'The tag that every contact of the file got in its property `tags`.'),
    errors: Type.Array(FailedRow, {
      maxItems: 20,
      description: 'The first failed rows. Empty without the scope `contacts:read`.',
    }),
    failed_rows_url: Nullable(
      Type.String(TEXT),
      'CSV of all failed rows; null without any, or when the file is deleted.',
    ),
    undo: Nullable(
      Type.Object(
        {
          deleted: Type.Integer(),
          restored: Type.Integer(),
          kept: Type.Integer(),
          companies_deleted: Type.Integer(),
        },
        { title: 'ImportUndo' },
      ),
      'Contacts deleted, restored and kept, and companies deleted; null unless the import was undone.',
    ),
    can_undo: Type.Boolean(),
    error: Nullable(RecordError),
    created_at: Timestamp,
    started_at: Nullable(Timestamp),
    finished_at: Nullable(Timestamp),
    expires_at: Timestamp,
    has_file: Type.Boolean(),
  },
  { title: 'Import' },
)
export type Import = Type.Static<typeof Import>

/** An import in a list: without its columns, lines, warnings and errors. */
export const ListedImport = Type.Omit(
  Import,
  ['encodings', 'first_lines', 'columns', 'mapping', 'remembered', 'warnings', 'consent', 'errors'],
  { title: 'ListedImport' },
)
export type ListedImport = Type.Static<typeof ListedImport>

/** An import's row, with the sums of its chunks. */
export type ImportRow = Selectable<TenantTables['imports']> & { counts: Counts }

/** Imports with the sums of their chunks. */
export function selectImports(tenant: Tenant) {
  return tenant.db
    .selectFrom('imports')
    .selectAll('imports')
    .select(({ selectFrom }) =>
      selectFrom('import_chunks')
        .select(
          sql<Counts>`json_build_object('created', coalesce(sum(created), 0), 'updated', coalesce(sum(updated), 0),
            'unchanged', coalesce(sum(unchanged), 0), 'failed', coalesce(sum(failed), 0))`.as('counts'),
        )
        .whereRef('import_chunks.import_id', '=', 'imports.import_id')
        .$asScalar()
        .$notNull()
        .as('counts'),
    )
}

export const IMPORT_ROWS: RunRows<'imports'> = { table: 'imports', id: 'import_id', lease: 'import' }

/** States in which a process works on an import. */
export const AT_WORK: readonly ImportState[] = ['previewing', 'running', 'undoing']
/** States in which an import can still be started or is at work. */
export const OPEN_STATES: readonly ImportState[] = ['uploaded', 'mapped', 'previewing', 'previewed', 'running']
const ENDED_STATES: readonly ImportState[] = ['completed', 'failed', 'cancelled']

/** Whether an import wrote something that can be undone. */
export function canUndo(
  { state, imported_at, expires_at }: Pick<ImportRow, 'state' | 'imported_at' | 'expires_at'>,
  now: Date,
): boolean {
  return ENDED_STATES.includes(state as ImportState) && imported_at !== null && expires_at > now
}

/** An import without its columns and errors. */
export function toListed(row: ImportRow, now: Date): ListedImport {
  const { counts } = row
  const state = row.state as ImportState
  const isUndone = state === 'undone' || state === 'undoing'
  return {
    import_id: row.import_id,
    _id: row.import_id,
    file_name: row.file_name,
    size_bytes: Number(row.size_bytes),
    encoding: row.encoding as Encoding,
    delimiter: row.delimiter,
    header_line: row.header_line,
    recognized_as: row.recognized_as as Import['recognized_as'],
    state,
    row_count: row.row_count,
    progress: progressOf(row, state),
    preview: (row.preview as { counts: Counts } | null)?.counts ?? null,
    counts,
    tag: row.tag,
    failed_rows_url: counts.failed > 0 && row.has_file ? `/v1/imports/${row.import_id}/failed.csv` : null,
    undo: isUndone ? undoOf(row) : null,
    can_undo: canUndo(row, now),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error ?? '' },
    created_at: row.created_at.toISOString(),
    started_at: row.imported_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    has_file: row.has_file,
  }
}

function undoOf(row: ImportRow): Import['undo'] {
  const { undone_deleted: deleted, undone_restored: restored, undone_kept: kept, undone_companies } = row
  return { deleted, restored, kept, companies_deleted: undone_companies }
}

/** The share of reading in the progress of an import. */
export const READING_SHARE = 0.3

function progressOf({ progress, row_count, counts }: ImportRow, state: ImportState): number {
  if (state !== 'running' || row_count === null) return progress
  const done = counts.created + counts.updated + counts.unchanged + counts.failed
  return Math.max(progress, READING_SHARE + (1 - READING_SHARE) * (row_count === 0 ? 1 : done / row_count))
}
