import { createWriteStream } from 'node:fs'
import { access, constants, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../assembly/all-operations.ts'
import { createImport } from '../imports/create-import.ts'
import { unusableFile } from '../imports/csv.ts'
import { failedRowsFile } from '../imports/failed-rows.ts'
import type { ChosenFormat } from '../imports/file-format.ts'
import { fileOf, importDirectory } from '../imports/files.ts'
import { AT_WORK, IMPORT_ROWS, type Import } from '../imports/import-object.ts'
import { readImport, requireImport } from '../imports/imports.ts'
import { type ColumnMapping, problemsOf } from '../imports/mapping.ts'
import { entryOf } from '../imports/operations.ts'
import { bytesOf } from '../imports/read-rows.ts'
import type { Proposal } from '../imports/remembered-mapping.ts'
import { importKind } from '../imports/run.ts'
import { setMapping, startImport } from '../imports/transitions.ts'
import type { Uploaded } from '../imports/upload.ts'
import { audit } from '../operations/audit.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { csvText } from '../platform/http/csv.ts'
import { pathId } from '../platform/http/responses.ts'
import { say } from '../platform/progress.ts'
import { takeTurn } from '../platform/runs/kind.ts'
import { claimRun, type Run } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { existingTenant, type Values } from './command.ts'
import { openServices } from './command-services.ts'
import { consentSentences, progressOf, summaryOf } from './import-summary.ts'
import type { Session } from './session.ts'

const REPORT_EVERY_MS = 2_000
const LOOK_EVERY_MS = 250
const TRY_AGAIN_MS = 2_000
const ACTOR = { kind: 'command_line' } as const

/** What following an import needs. */
interface Following {
  session: Session
  tenant: Tenant
  services: Services
  /** The directory of the uploaded files, which this process shares with the service. */
  directory: string
  /** Aborts at the first Ctrl+C; a second one ends the process. */
  interrupted: AbortSignal
  /** How to call another command about the import. */
  call: (command: string, importId: string) => string
}

/**
 * Creates an import of a file like an upload, starts it, and follows it. The service that runs works on it, else this
 * process; if either stops, the other continues.
 */
export async function importContacts(
  session: Session,
  values: Values,
  chosen: ChosenFormat,
): Promise<Record<string, unknown>> {
  const file = String(values.file)
  const errorsFile = values.errors === undefined ? `${file}.errors.csv` : String(values.errors)
  return withFollowing(session, values, async (following) => {
    await requireErrorsFile(errorsFile, file)
    const { importId, run } = await createAndStart(
      following,
      file,
      chosen,
      values.tag === undefined ? undefined : String(values.tag),
    )
    say(`started the import ${importId}`)
    const ended = await untilEnded(following, importId, run)
    if (ended.state === 'completed' && ended.counts.failed === 0) await deleteEarlier(errorsFile)
    return resultOf(following, ended, errorsFile)
  })
}

/** Follows an import, its preview or its undoing. Without a running service, this process works on it. */
export async function followImport(session: Session, values: Values): Promise<Record<string, unknown>> {
  return withFollowing(session, values, async (following) => {
    const importId = pathId(String(values['import-id']), 'import')
    const { state } = await readImport(following.tenant, importId, following.services.clock())
    if (state === 'uploaded' || state === 'mapped') {
      const start = following.call('start', importId)
      throw conflict('invalid_import_state', `The import is ${state}. Start it with ${start}.`)
    }
    const ended = await untilEnded(following, importId)
    return resultOf(following, ended, String(values.errors ?? `failed-rows-${importId}.csv`))
  })
}

async function withFollowing(
  session: Session,
  values: Values,
  work: (following: Following) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const tenantId = await existingTenant(session.stores, values)
  const { services, close } = await openServices(session)
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  try {
    return await work({
      session,
      tenant: session.tenant(tenantId),
      services,
      directory: importDirectory(session.config.dataDirectory),
      interrupted: interruption.signal,
      call: (command, importId) =>
        `cdsctl import ${command} --import-id ${importId}${values.tenant === undefined ? '' : ` --tenant ${tenantId}`}`,
    })
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupt)
    await close()
  }
}

/**
 * Stores an import and its start in one transaction: a file that cannot be started leaves nothing. Without a running service,
 * this process claims it, because one that has another data directory would not find the file.
 */
async function createAndStart(
  following: Following,
  file: string,
  chosen: ChosenFormat,
  tag: string | undefined,
): Promise<{ importId: string; run: Run<'imports'> | null }> {
  const { session, tenant, services, directory, interrupted, call } = following
  let run: Run<'imports'> | null = null
  const { size: bytes } = await stat(file).catch(() => ({ size: Number.NaN }))
  const body = Readable.from(bytesOf(file, file), { objectMode: false, signal: interrupted })
  const start = async (tx: Tenant, uploaded: Uploaded & Proposal) => {
    requireUsable(file, uploaded, chosen)
    const now = services.clock()
    const { importId, mapping, remembered } = uploaded
    // The types of a remembered mapping were seen by a person.
    await setMapping(tx, importId, remembered === null ? mapping.map(asText) : mapping)
    if (remembered !== null) say(`The columns go where those of ${remembered.file_name} went.`)
    await startImport(tx, importId, now, tag)
    if (!session.serviceRuns) run = await claimRun(IMPORT_ROWS, tx, importId, now)
    await audit(tx, { actor: ACTOR, ...entryOf('import.started', importId) }, now)
  }
  try {
    const sent = { name: basename(file), body, decoder: null, bytes, chosen }
    const { output } = await createImport({ ...services, directory }, { tenant, actor: ACTOR }, sent, undefined, start)
    return { importId: output.import.import_id, run: run && { ...(run as Run<'imports'>), tenant } }
  } catch (error) {
    if (interrupted.aborted) throw new ServiceError(409, 'interrupted', 'Stopped. Nothing was imported.')
    const { code, details = [] } = error as ServiceError
    const other = code === 'another_import_running' ? details[0]?.message : undefined
    if (other === undefined) throw error
    const message = `Nothing was imported, because the import ${other} has not ended. Follow it with ${call('follow', other)}.`
    throw conflict(code, message, details)
  }
}

/** @throws ServiceError 400 `invalid_file` for a file that a person has to look at first. */
function requireUsable(file: string, { format, columns, mapping }: Uploaded, { headerLine }: ChosenFormat): void {
  if (format.headerLine === 0 && headerLine === undefined) {
    const problem = 'has no header: its first row already has an address. Add a first line that names the columns'
    throw unusableFile(file, problem)
  }
  if (problemsOf(mapping, columns.length).length === 0) return
  const names = columns.map(({ header }) => header).filter((header) => header !== '')
  const problem = `has neither an email nor an external_id column. Line ${format.headerLine} names ${names.join(', ')}`
  throw unusableFile(file, `${problem}. Choose another line with --header-line, or rename a column`)
}

/** Nobody has seen the types that the samples suggest, and a cell that does not fit would fail its row. */
function asText(column: ColumnMapping): ColumnMapping {
  const { format: _, ...rest } = column
  return column.target === 'property' ? { ...rest, type: 'text' } : column
}

/** Works on an import, or watches it, until it has ended. @param run if this process has claimed it. */
async function untilEnded(following: Following, importId: string, run: Run<'imports'> | null = null): Promise<Import> {
  const { session, tenant, services, interrupted, call } = following
  const read = () => readImport(tenant, importId, services.clock())
  // An error is thrown where it is read next.
  const reporting = every(REPORT_EVERY_MS, () =>
    read().then(
      (found) => say(progressOf(found)),
      () => {},
    ),
  )
  try {
    if (run) await workHere(following, run)
    for (let found = await read(); ; found = await read()) {
      if (!AT_WORK.includes(found.state)) return found
      await (session.serviceRuns ? pause(LOOK_EVERY_MS, interrupted) : tryHere(following, found))
      if (interrupted.aborted) throw stopped(following, importId)
    }
  } catch (error) {
    if (!interrupted.aborted)
      console.error(`cdsctl: The import has not ended. Continue with ${call('follow', importId)}`)
    throw error
  } finally {
    await reporting.stop()
  }
}

/** Works on an import that no other process works on. */
async function tryHere(following: Following, { import_id: importId, state }: Import): Promise<void> {
  const { session, tenant, services, directory, interrupted } = following
  try {
    // With an external database, the file may be where another process has its data directory.
    if (session.config.databaseUrl !== null && state !== 'undoing') await access(fileOf(directory, importId))
    const run = await claimRun(IMPORT_ROWS, tenant, importId, services.clock())
    if (run) return await workHere(following, run)
    // After ten attempts, it fails.
    const { status, error } = await requireImport(tenant, importId)
    say(status === 'waiting' ? `waiting: ${error}` : `Another process works on the import ${importId}.`)
  } catch (error) {
    if (interrupted.aborted) return
    say(`waiting: ${(error as Error).message}`)
  }
  await pause(TRY_AGAIN_MS, interrupted)
}

function workHere({ session, services, directory, interrupted }: Following, run: Run<'imports'>): Promise<void> {
  const writing = session.writing()
  return takeTurn(importKind({ writing, directory }), { clock: services.clock, log: writing.log }, run, interrupted)
}

function stopped({ session, call }: Following, importId: string): ServiceError {
  const message = session.serviceRuns
    ? `Stopped following the import. The service continues it; ${call('cancel', importId)} ends it.`
    : `Stopped. What was written stays. Continue with ${call('follow', importId)}, or start the service, which continues it.`
  return new ServiceError(409, 'interrupted', message)
}

/** The summary of an import, with its failed rows in a file. @throws ServiceError if it has not reached its end. */
async function resultOf(following: Following, ended: Import, errorsFile: string): Promise<Record<string, unknown>> {
  const { call } = following
  const { import_id: importId, state, error } = ended
  if (state === 'failed' || state === 'cancelled') {
    const next = state === 'failed' ? `${call('start', importId)} and then import follow continue it; ` : ''
    const reason = error === null ? '' : ` ${error.message}`
    const message = `The import was ${state === 'failed' ? 'not completed' : 'cancelled'}.${reason} What was written stays: ${next}${call('undo', importId)} undoes it.`
    throw conflict(error?.code ?? 'import_cancelled', message)
  }
  const errors = ended.failed_rows_url === null ? null : await saveFailedRows(following, importId, errorsFile)
  const summary = summaryOf(ended, errors)
  for (const line of [...summary.warnings, ...consentSentences(summary)]) console.error(`cdsctl: ${line}`)
  return { ...summary }
}

/** Writes the failed rows to a file. @returns its path. */
async function saveFailedRows({ tenant, directory, services }: Following, importId: string, path: string) {
  const file = await failedRowsFile(tenant, importId, directory)
  await audit(tenant, { actor: ACTOR, ...entryOf('import.failed_rows_downloaded', importId) }, services.clock())
  await pipeline(csvText(file, await file.pages.next()), createWriteStream(path)).catch((cause: unknown) => {
    if (cause instanceof ServiceError) throw cause
    throw unusableFile(path, 'cannot be written. Choose another file for the failed rows with --errors', cause)
  })
  return path
}

/** @throws ServiceError 400 `invalid_file` if the failed rows cannot be written there. */
async function requireErrorsFile(path: string, imported: string): Promise<void> {
  const [from, to] = await Promise.all([imported, path].map((each) => stat(each).catch(() => null)))
  if (from && to && from.dev === to.dev && from.ino === to.ino) {
    throw unusableFile(path, 'is the imported file. Choose another file for the failed rows with --errors')
  }
  const isWritable = await access(to ? path : dirname(path), constants.W_OK).then(
    () => true,
    () => false,
  )
  if (isWritable && !to?.isDirectory()) return
  throw unusableFile(path, 'cannot be written. Choose another file for the failed rows with --errors')
}

/** Deletes the failed rows of an earlier attempt. */
async function deleteEarlier(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile()) await rm(path)
}

async function pause(ms: number, interrupted: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: interrupted }).catch(() => {})
}
