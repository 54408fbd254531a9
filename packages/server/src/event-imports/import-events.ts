import { setTimeout as sleep } from 'node:timers/promises'
import type { WriteServices } from '../contacts/writing/writer.ts'
import type { FormatName } from '../event-formats/formats.ts'
import type { GroupCommit, PreparePart } from '../journal/group-commit.ts'
import { ServiceError } from '../platform/errors.ts'
import type { PlaceOf } from '../platform/places.ts'
import { whileClaimed } from '../platform/postgres/lease.ts'
import { asUnavailable } from '../platform/postgres/unavailable.ts'
import { separated, throttled } from '../platform/progress.ts'
import type { Tenant } from '../platform/tenant.ts'
import { createCallRecorder, type RecordCalls } from '../sites/ingestion/record-calls.ts'
import { type Chunk, chunksOf } from './chunks.ts'
import { type ErrorsFile, openErrors } from './errors-file.ts'
import { openInput } from './input.ts'
import { type EventsFile, openEvents } from './open-events.ts'
import {
  type ClaimedFile,
  claimFile,
  noteDone,
  noteFinished,
  type Progress,
  readProgress,
  recordedPart,
  releaseFile,
  warningsOf,
  whereClaimed,
} from './progress.ts'
import { addWarnings, type ImportWarning, type Warnings } from './warnings.ts'

/** While more journal rows than this wait for ClickHouse, the import waits, so that it does not delay incoming events. */
const JOURNAL_ROWS_MAX = 64
const PAUSE_MS = 500
/** How many times a chunk is tried while a database does not respond. */
const TRIES_MAX = 120
/** A file is trusted like a server with a secret key. */
const SENDER = { sourceId: null, trust: 'verified', page: null } as const

export interface EventImport {
  file: string
  /** null: it is recognized from the file's contents. */
  format: FormatName | null
  /** The file for the lines that fail. */
  errorsFile: string
  /** Whether to import a file again that has been imported. */
  again: boolean
  /** Aborts when the user interrupts the command. */
  interrupted: AbortSignal
  onProgress: (message: string) => void
}

export interface ImportDependencies extends WriteServices {
  placeOf: PlaceOf
  groupCommit(preparePart: PreparePart): Pick<GroupCommit, 'record'>
  /** The number of rows in the journal. */
  journalRows(): Promise<number>
}

export interface EventImportSummary {
  format: FormatName
  /** Lines that are not empty. The next four add up to it. */
  read: number
  recorded: number
  /** Events that were recorded before. */
  repeated: number
  /** Lines without an event, which name a person or write properties. */
  people: number
  failed: number
  /** Lines that did not fail, but of which a part was ignored. */
  warned: number
  warnings: ImportWarning[]
  /** The file with the lines that failed; null if none did. */
  errors: string | null
  /** Whether an earlier run had imported the whole file. */
  imported_before: boolean
}

/** Everything that an import works with. */
interface Work {
  tenant: Tenant
  file: ClaimedFile
  record: RecordCalls
  errors: ErrorsFile
  warnings: Warnings
  journalRows: () => Promise<number>
  report: (message: string) => void
}

/**
 * Imports a file of events. Progress is stored with the events themselves, so an interrupted import continues where it
 * stopped, and a file that was imported is not imported again. Only a few chunks are in memory at a time.
 * @throws ServiceError 400 `invalid_file`, `unknown_format` before anything is written; 409 `import_running`;
 * `interrupted`.
 */
export async function importEvents(
  tenant: Tenant,
  dependencies: ImportDependencies,
  { file: path, format: named, errorsFile, again, interrupted, onProgress }: EventImport,
): Promise<EventImportSummary> {
  const input = await openInput(path)
  try {
    const events = await openEvents(input, named)
    const key = { digest: input.digest, format: events.format }
    const { file, progress } = await claimFile(tenant, key, again, dependencies.clock())
    try {
      const summaryOf = (done: Progress) => toSummary(done, events.format, errorsFile)
      if (progress.finished_at !== null) {
        onProgress(
          `${input.name} was imported on ${progress.finished_at.toISOString()}. Use --again to import it again`,
        )
        return { ...summaryOf(progress), imported_before: true }
      }
      if (progress.lines_done > 0) onProgress(`continuing after line ${separated(progress.lines_done)}`)
      const errors = await openErrors(errorsFile, input.path, Number(progress.errors_bytes))
      try {
        await whileClaimed('event_import', whereClaimed(tenant, file), (lost) => {
          const { journalRows } = dependencies
          const warnings = warningsOf(progress)
          const work = { tenant, file, errors, warnings, journalRows, report: throttled(onProgress) }
          return importLines(work, dependencies, events, progress, AbortSignal.any([lost, interrupted]))
        })
      } finally {
        await errors.close()
      }
      await noteFinished(tenant, file, dependencies.clock())
      return summaryOf(await readProgress(tenant, file))
    } finally {
      await releaseFile(tenant, file)
    }
  } finally {
    await input.close()
  }
}

/** Writes one chunk after another, while the next one is read and checked. */
async function importLines(
  work: Omit<Work, 'record'>,
  dependencies: ImportDependencies,
  events: EventsFile,
  { lines_done, lines_recorded, lines_read }: Progress,
  stop: AbortSignal,
): Promise<void> {
  const record = createRecorder(work, dependencies)
  const chunks = chunksOf(events, lines_done, lines_recorded)
  let read = lines_read
  try {
    let next = chunks.next()
    for (let chunk = await next; !chunk.done; chunk = await next) {
      next = chunks.next()
      // Its error is thrown when it is awaited, which may be later.
      next.catch(() => {})
      requireNotStopped(stop, chunk.value.before)
      // The events of these lines are recorded; only their errors may not be.
      const isRecorded = chunk.value.last <= lines_recorded
      const recordCalls = isRecorded ? record.withoutEvents : record.of(chunk.value)
      await writeChunk({ ...work, record: recordCalls }, chunk.value)
      read += chunk.value.lines.length
      work.report(`${separated(read)} lines`)
    }
  } finally {
    await chunks.return(undefined)
  }
}

/** Creates the recorder of an import. The statement that records a chunk's events also stores that they are recorded. */
function createRecorder({ tenant, file }: Pick<Work, 'tenant' | 'file'>, dependencies: ImportDependencies) {
  let lines = 0
  // The events are history: they cause no webhook deliveries.
  const groupCommit = dependencies.groupCommit(
    async () => (events) => recordedPart(tenant.id, file, lines, events.length),
  )
  const others = {
    ...dependencies,
    sourceUsage: { note: () => {} },
    findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
  }
  const recordCalls = createCallRecorder({ ...others, groupCommit })
  return {
    of: (chunk: Chunk): RecordCalls => {
      lines = chunk.last
      return recordCalls
    },
    withoutEvents: createCallRecorder({ ...others, groupCommit: { record: async () => {} } }),
  }
}

/** @throws ServiceError `interrupted`; 409 `import_running` if another process has claimed the file. */
function requireNotStopped(stop: AbortSignal, line: number): void {
  if (!stop.aborted) return
  const message = `Stopped after line ${separated(line)}. Run the same command again to continue there.`
  throw new ServiceError(409, 'interrupted', message)
}

async function writeChunk(work: Work, chunk: Chunk): Promise<void> {
  const { tenant, file, record, errors, warnings, journalRows, report } = work
  while ((await journalRows()) > JOURNAL_ROWS_MAX) {
    report('waiting until ClickHouse has stored the earlier events')
    await sleep(PAUSE_MS)
  }
  const results = await whenAvailable(report, () => record(tenant, SENDER, chunk.calls))
  const failed = chunk.lines.flatMap((line, index) => {
    const result = results[index]
    return result?.status === 'failed' ? [{ line, error: result.error }] : []
  })
  const people = results.filter((result) => result.status === 'accepted' && result.eventId === null).length
  // Written before the lines count as done: an interruption in between must not lose them.
  await errors.write(failed)
  const counts = { read: chunk.lines.length, people, failed: failed.length, errorsBytes: errors.bytes() }
  for (const [index, { number }] of chunk.lines.entries()) {
    const result = results[index]
    if (result?.status === 'accepted')
      addWarnings(warnings, number, [...(chunk.warnings[index] ?? []), ...result.warnings])
  }
  await noteDone(tenant, file, chunk.last, counts, warnings)
}

/** Retries work that fails because a database does not respond or the service is overloaded. */
async function whenAvailable<T>(report: (message: string) => void, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const unavailable = asUnavailable(error)
      if (!unavailable || tries === TRIES_MAX) throw error
      report(`waiting: ${unavailable.message}`)
      await sleep(PAUSE_MS)
    }
  }
}

function toSummary(progress: Progress, format: FormatName, errorsFile: string): EventImportSummary {
  const { lines_read: read, recorded, people, failed } = progress
  const repeated = read - recorded - people - failed
  const errors = failed > 0 ? errorsFile : null
  const { lines: warned, kinds: warnings } = warningsOf(progress)
  return { format, read, recorded, repeated, people, failed, warned, warnings, errors, imported_before: false }
}

/** What failed, and where to find the details; null if nothing did. */
export function failedLinesOf({ read, failed, errors }: EventImportSummary): string | null {
  if (failed === 0) return null
  return `${separated(failed)} of ${separated(read)} lines failed. ${errors} lists them with the reasons.`
}
