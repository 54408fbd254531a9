import Type from 'typebox'
import type { Config } from '../config.ts'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { COLUMNS_MAX } from './columns.ts'
import { Delimiter, Encoding } from './encoding.ts'
import { importDirectory } from './files.ts'
import { Counts, Import, ListedImport, STATES } from './import-object.ts'
import { listImports, showImport } from './imports.ts'
import { ColumnMapping } from './mapping.ts'
import { PreviewedRow, readPreview } from './preview.ts'
import { rememberMapping } from './remembered-mapping.ts'
import { ImportConsent } from './silenced.ts'
import {
  cancelImport,
  requestPreview,
  requestUndo,
  rereadFile,
  setFormat,
  setMapping,
  startImport,
} from './transitions.ts'
import { KeptContact, listKept } from './undo.ts'

const tag = 'Imports'
const scope = 'contacts:write'
const input = { import_id: idInPath('import') }
const INVALID_STATE = '409 invalid_import_state'
const FILE_DELETED = '409 import_file_deleted'
const withFiles = operationsWith<{ config: Pick<Config, 'dataDirectory'> }>()
/** Nobody puts more above a header. */
const HEADER_LINE_MAX = 1_000

const TAG_LENGTH_MAX = 100

export const entryOf = entryAbout('import')

export const IMPORT_OPERATIONS = [
  operation({
    name: 'listImports',
    tag,
    http: 'GET /v1/imports',
    command: 'import list',
    scope,
    summary: 'List the imports of uploaded files, newest first',
    input: { state: Type.Optional(oneOf(STATES, 'Only imports in this state.')), ...pageParameters(20, 100) },
    output: { imports: Type.Array(ListedImport), pagination: Pagination },
    async run({ tenant, now }, { state, page, limit }) {
      const { imports, total } = await listImports(tenant, { page, limit }, state, now)
      return { imports, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getImport',
    tag,
    http: 'GET /v1/imports/:import_id',
    command: 'import get',
    scope,
    summary: "Get an import's state, progress, columns, counts and first errors",
    input,
    output: { import: Import },
    run: async (context, { import_id }) => ({ import: await showImport(context, import_id) }),
  }),
  operation({
    name: 'setImportMapping',
    tag,
    http: 'PUT /v1/imports/:import_id/mapping',
    command: 'import map',
    scope,
    summary: 'Set where the columns of the file go',
    description: 'Columns that are not listed are ignored. One must be the email or the external id.',
    input: { ...input, columns: Type.Array(ColumnMapping, { minItems: 1, maxItems: COLUMNS_MAX }) },
    output: { import: Import },
    example: { columns: [{ column: 0, target: 'email' }] },
    errors: [INVALID_STATE],
    async run(context, { import_id, columns }) {
      const { tenant } = context
      await setMapping(tenant, import_id, columns)
      return { import: await showImport(context, import_id) }
    },
    audit: (_, { import_id }) => entryOf('import.mapped', import_id),
  }),
  withFiles({
    name: 'setImportFormat',
    tag,
    http: 'PUT /v1/imports/:import_id/format',
    command: 'import read',
    scope,
    summary: 'Read the file in another encoding, with another delimiter, or with its header on another line',
    description:
      'Omitted fields are detected again, except the encoding. The columns are read again, and a new mapping is proposed. `encodings` of an import shows how its words read in each encoding.',
    input: {
      ...input,
      encoding: Type.Optional(Encoding),
      delimiter: Type.Optional(Delimiter),
      header_line: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: HEADER_LINE_MAX,
          description: 'The line that names the columns; 1 is the first one of the file, and 0 means that none does.',
        }),
      ),
      use_remembered: Type.Optional(
        Type.Boolean({
          description:
            'Whether to propose the mapping of the last import with the same columns, if there is one. Default: true.',
        }),
      ),
    },
    output: { import: Import },
    example: { encoding: 'windows-1252', header_line: 1 },
    errors: [INVALID_STATE, FILE_DELETED, '400 invalid_file'],
    check: ({ tenant, config }, { import_id, encoding, delimiter, header_line: headerLine }) =>
      rereadFile(tenant, importDirectory(config.dataDirectory), import_id, { encoding, delimiter, headerLine }),
    async run(context, { import_id, use_remembered = true }, inspected) {
      const { tenant } = context
      await setFormat(tenant, import_id, inspected, use_remembered)
      return { import: await showImport(context, import_id) }
    },
    audit: (_, { import_id }) => entryOf('import.read_again', import_id),
  }),
  operation({
    name: 'previewImport',
    tag,
    http: 'POST /v1/imports/:import_id/preview',
    command: 'import-preview create',
    scope,
    summary: 'Compute what an import would do, in the background; nothing is written',
    input,
    output: { import: Import },
    status: 202,
    errors: [INVALID_STATE, FILE_DELETED],
    async run(context, { import_id }) {
      await requestPreview(context.tenant, import_id)
      return { import: await showImport(context, import_id) }
    },
    audit: (_, { import_id }) => entryOf('import.previewed', import_id),
  }),
  operation({
    name: 'getImportPreview',
    tag,
    http: 'GET /v1/imports/:import_id/preview',
    command: 'import-preview get',
    scope,
    also: [{ scopes: ['contacts:read'] }],
    summary:
      'Get what an import would do: the counts, how many contacts get no more mail, and the first 20 rows with each property before and after',
    input,
    output: { counts: Counts, consent: ImportConsent, rows: Type.Array(PreviewedRow) },
    errors: ['409 import_not_previewed'],
    run: ({ tenant }, { import_id }) => readPreview(tenant, import_id),
  }),
  operation({
    name: 'startImport',
    tag,
    http: 'POST /v1/imports/:import_id/start',
    command: 'import start',
    scope,
    summary: 'Start an import, or continue one that failed; it runs in the background',
    input: {
      ...input,
      tag: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: TAG_LENGTH_MAX,
          description:
            'A tag that every contact of the file gets in its property `tags`, besides those it has. A segment of them has the condition that `tags` equals it. An import that continues keeps its tag.',
          examples: ['Fair 2026'],
        }),
      ),
    },
    output: { import: Import },
    status: 202,
    errors: [INVALID_STATE, FILE_DELETED, '409 another_import_running'],
    async run(context, { import_id, tag }) {
      const { tenant, now } = context
      const started = await startImport(tenant, import_id, now, tag)
      await rememberMapping(tenant, started, now)
      return { import: await showImport(context, import_id) }
    },
    audit: (_, { import_id }) => entryOf('import.started', import_id),
  }),
  operation({
    name: 'cancelImport',
    tag,
    http: 'POST /v1/imports/:import_id/cancel',
    command: 'import cancel',
    scope,
    summary: 'Cancel an import; what it has written stays until it is undone',
    input,
    output: { import: Import, cancelled: Type.Boolean({ description: 'false if it was already cancelled.' }) },
    errors: [INVALID_STATE],
    async run(context, { import_id }) {
      const { tenant, now } = context
      const cancelled = await cancelImport(tenant, import_id, now)
      return { import: await showImport(context, import_id), cancelled }
    },
    audit: ({ cancelled }, { import_id }) => (cancelled ? entryOf('import.cancelled', import_id) : null),
  }),
  operation({
    name: 'undoImport',
    tag,
    http: 'POST /v1/imports/:import_id/undo',
    command: 'import undo',
    scope,
    summary: 'Undo an import: delete the contacts it created and restore the values it replaced',
    description:
      'What was changed since is kept; see GET /v1/imports/:import_id/kept. Possible for seven days after the import.',
    input,
    output: { import: Import },
    status: 202,
    errors: [INVALID_STATE, '409 another_import_running'],
    async run(context, { import_id }) {
      const { tenant, now } = context
      await requestUndo(tenant, import_id, now)
      return { import: await showImport(context, import_id) }
    },
    audit: (_, { import_id }) => entryOf('import.undone', import_id),
  }),
  operation({
    name: 'listKeptContacts',
    tag,
    http: 'GET /v1/imports/:import_id/kept',
    command: 'import kept-contacts',
    scope,
    also: [{ scopes: ['contacts:read'] }],
    summary: 'List the contacts that undoing an import left as they are, because they were changed since',
    input: { ...input, ...pageParameters(20, 100) },
    output: { contacts: Type.Array(KeptContact), pagination: Pagination },
    async run({ tenant }, { import_id, page, limit }) {
      const { contacts, total } = await listKept(tenant, import_id, { page, limit })
      return { contacts, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]
