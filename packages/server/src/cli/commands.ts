import { FORMAT_NAMES, isFormatName } from '../event-formats/formats.ts'
import { type EventImportSummary, failedLinesOf } from '../event-imports/import-events.ts'
import { ENCODINGS, type Encoding, isDelimiter, isEncoding } from '../imports/encoding.ts'
import type { ChosenFormat } from '../imports/file-format.ts'
import { countRows } from '../journal/batches.ts'
import { retryRefused } from '../journal/refused.ts'
import { say } from '../platform/progress.ts'
import { seedTenant } from '../seed/seed.ts'
import {
  type Command,
  type CommandOnce,
  existingTenant,
  numberOf,
  optional,
  required,
  tenant,
  type Values,
} from './command.ts'
import { diagnose } from './doctor.ts'
import { runEventImport } from './event-import-command.ts'
import { FOLLOWING_COMMANDS } from './following/commands.ts'
import { followImport, importContacts } from './import-command.ts'
import { failedRowsOf, type ImportSummary } from './import-summary.ts'
import { OPERATION_COMMANDS } from './operation-commands.ts'
import { SECRET_COMMANDS } from './secret-commands.ts'
import { TENANT_COMMANDS } from './tenant-commands.ts'
import { USER_COMMANDS } from './user-commands.ts'

/** The fields of an ImportSummary. */
const IMPORT_SUMMARY = [
  'import_id',
  'state',
  'rows',
  'created',
  'updated',
  'unchanged',
  'failed',
  'encoding',
  'delimiter',
  'header_line',
  'silenced',
  'silenced_by',
  'released',
  'warnings',
  'errors',
  'failed_rows',
]

/** The commands that work on the databases, by name. */
export const DATABASE_COMMANDS: Record<string, CommandOnce> = {
  ...TENANT_COMMANDS,
  ...USER_COMMANDS,
  ...OPERATION_COMMANDS,
  ...SECRET_COMMANDS,
  seed: {
    summary: 'Fill a tenant with sample data',
    options: {
      tenant,
      contacts: optional('NUMBER'),
      companies: optional('NUMBER'),
      events: optional('NUMBER'),
      days: optional('NUMBER'),
      seed: optional('NUMBER'),
    },
    prints: ['companies', 'contacts', 'events'],
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const { companies, contacts, events } = await seedTenant(session.tenant(tenantId), {
        contacts: numberOf(values, 'contacts', 500),
        companies: numberOf(values, 'companies', 80),
        events: numberOf(values, 'events', 20_000),
        days: numberOf(values, 'days', 28),
        seed: numberOf(values, 'seed', 1),
        site: 'www.example.com',
        now,
        onProgress: say,
      })
      return { companies, contacts, events }
    },
  },
  'import contacts': {
    summary: 'Import contacts from a CSV file: create an import, start it, and follow it until it ends',
    argument: 'FILE',
    options: {
      tenant,
      errors: { ...optional('FILE'), description: 'for the rows that fail; FILE.errors.csv if omitted' },
      tag: { ...optional('TAG'), description: 'what every contact of the file is tagged with' },
      encoding: { ...optional('ENCODING'), description: 'such as macintosh or shift_jis; detected if omitted' },
      delimiter: { ...optional('CHARACTER'), description: 'the character between cells, or tab; detected if omitted' },
      'header-line': { ...optional('NUMBER'), description: 'the line that names the columns; detected if omitted' },
    },
    prints: IMPORT_SUMMARY,
    check: problemOfFormat,
    run: (session, values) => importContacts(session, values, chosenFormat(values)),
    failuresOf: (result) => failedRowsOf(result as unknown as ImportSummary),
  },
  'import follow': {
    summary: 'Follow an import, its preview or its undoing until it ends; without a running service, continue it',
    options: {
      tenant,
      'import-id': required('IMPORT_ID'),
      errors: { ...optional('FILE'), description: 'for the rows that fail; failed-rows-IMPORT_ID.csv if omitted' },
    },
    prints: IMPORT_SUMMARY,
    run: followImport,
    failuresOf: (result) => failedRowsOf(result as unknown as ImportSummary),
  },
  'import events': {
    summary: 'Import events from a file of JSON lines or CSV; - reads standard input',
    argument: 'FILE',
    options: {
      tenant,
      format: { ...optional('FORMAT'), description: `${FORMAT_NAMES.join(', ')}; recognized if omitted` },
      errors: { ...optional('FILE'), description: 'for the lines that fail; FILE.errors.jsonl if omitted' },
      again: { type: 'boolean', description: 'import a file that was already imported' },
    },
    prints: [
      'format',
      'read',
      'recorded',
      'repeated',
      'people',
      'failed',
      'warned',
      'warnings',
      'errors',
      'imported_before',
    ],
    check: ({ format }) =>
      format === undefined || isFormatName(String(format))
        ? null
        : `--format must be one of ${FORMAT_NAMES.join(', ')}`,
    run: runEventImport,
    failuresOf: (result) => failedLinesOf(result as unknown as EventImportSummary),
  },
  'event retry': {
    summary: 'Try again to store the events that were set aside',
    options: {},
    prints: ['retried', 'still_set_aside'],
    run: async ({ stores }) => ({
      retried: await retryRefused(stores.database),
      still_set_aside: (await countRows(stores.database)).setAside,
    }),
  },
  migrate: {
    summary: 'Run the migrations of both databases, and create them if there are none',
    createsData: true,
    options: {},
    prints: ['migrated'],
    // Opening the session ran the migrations.
    run: async () => ({ migrated: true }),
  },
  doctor: {
    summary: 'Check both databases and report problems',
    options: {},
    prints: [
      'node',
      'postgres',
      'clickhouse',
      'journal_rows',
      'events_set_aside',
      'latest_set_aside',
      'service_running',
      'proxy?',
    ],
    run: (session) => diagnose(session),
  },
}

/** All commands of `cdsctl`, by name. */
export const COMMANDS: Record<string, Command> = { ...DATABASE_COMMANDS, ...FOLLOWING_COMMANDS }

/** What is wrong with the options that say how a file of contacts is written; null if nothing is. */
function problemOfFormat(values: Values): string | null {
  const { encoding, delimiter, 'header-line': line } = values
  if (encoding !== undefined && !isEncoding(String(encoding))) {
    return `--encoding must be one of ${ENCODINGS.join(', ')}`
  }
  if (delimiter !== undefined && !isDelimiter(delimiterOf(delimiter))) {
    return '--delimiter must be tab, or one character other than a letter, a digit or a quotation mark'
  }
  return line === undefined || /^\d{1,4}$/.test(String(line))
    ? null
    : '--header-line must be a whole number from 0 to 9999'
}

/** How a file of contacts is written, as far as the options say. */
function chosenFormat({ encoding, delimiter, 'header-line': line }: Values): ChosenFormat {
  return {
    encoding: encoding === undefined ? undefined : (String(encoding) as Encoding),
    delimiter: delimiter === undefined ? undefined : delimiterOf(delimiter),
    headerLine: line === undefined ? undefined : Number(line),
  }
}

function delimiterOf(option: Values[string]): string {
  return option === 'tab' || option === '\\t' ? '\t' : String(option)
}
