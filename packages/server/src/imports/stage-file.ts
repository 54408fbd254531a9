import { contactsOfEmails, contactsOfSource } from '../contacts/writing/keys.ts'
import type { IgnoredIds } from '../platform/ids-of-nobody.ts'
import type { Tenant } from '../platform/tenant.ts'
import { recordIn } from '../sources/incoming-record.ts'
import { CHARACTERS_PER_CHUNK, type Chunk, chunksOf, ROWS_PER_CHUNK } from './chunks.ts'
import { type Column, hasBothKeys, parseRow } from './columns.ts'
import type { FileRow, RowSize } from './contact-rows.ts'
import { createGrouping } from './groups.ts'
import { createRowWarnings, type RowWarning } from './row-warnings.ts'
import { openStaging, type Part, type Row, type Staging } from './staging.ts'

/** The source that imports write as. */
export const SOURCE = { source: 'import', kind: 'import' } as const
/** Concurrent chunks: while one is read and applied, PostgreSQL writes others. */
const CHUNKS_IN_FLIGHT = 3

/** A mapped file, positioned below its header. */
export interface MappedFile {
  records: AsyncGenerator<FileRow>
  columns: readonly Column[]
  size: RowSize
  ignoredIds: IgnoredIds
  /** Whether a row was imported before an interruption. */
  isDone?: (row: number) => boolean
  /** Called now and then with the number of rows read, and of their characters. */
  onRead: (rows: number, characters: number) => void | Promise<void>
}

/**
 * Stages the rows of a file, and calls `work` once the whole file has been read. Only a few thousand rows are in memory at
 * a time.
 */
export async function withStagedRows<T>(
  tenant: Tenant,
  file: MappedFile,
  work: (staged: { rowCount: number; warnings: readonly RowWarning[] }, chunks: AsyncGenerator<Chunk>) => Promise<T>,
): Promise<T> {
  return tenant.scratch(async (scratch) => {
    const staging = await openStaging(scratch)
    const { parts, ...staged } = await stage(tenant, staging, file)
    const grouping = createGrouping()
    await staging.visitRepeats(grouping.join)
    return work(staged, chunksOf(staging, parts, grouping.groups()))
  })
}

/** Stages a file: reads it while PostgreSQL stores the previous part. @returns the stored parts. */
async function stage(
  tenant: Tenant,
  staging: Staging,
  { records, columns, size, ignoredIds, isDone = () => false, onRead }: MappedFile,
): Promise<{ parts: Part[]; rowCount: number; warnings: readonly RowWarning[] }> {
  const parts: Part[] = []
  const warnings = createRowWarnings()
  let storing: Promise<void> = Promise.resolve()
  let rows: Row[] = []
  let characters = 0
  let rowCount = 0
  let charactersRead = 0
  try {
    const needsContacts = hasBothKeys(columns)
    const store = async (part: Row[], before: Promise<void>) => {
      await before
      parts.push(await staging.add(part, needsContacts ? await storedContactsOf(tenant, part) : []))
      await onRead(rowCount, charactersRead)
    }
    for await (const fileRow of records) {
      const row = ++rowCount
      const { cells } = fileRow
      const length = cells.reduce((sum, cell) => sum + cell.length, 0)
      charactersRead += length + cells.length
      const parsed = parseRow(columns, fileRow, { size, ignoredIds })
      warnings.add(row, parsed.warnings)
      if (isDone(row)) continue
      rows.push({ row, record: parsed.record, characters: length })
      characters += length
      if (rows.length < ROWS_PER_CHUNK && characters < CHARACTERS_PER_CHUNK) continue
      await storing
      storing = store(rows, storing)
      // Its error is thrown when it is next awaited, which may be later.
      storing.catch(() => {})
      rows = []
      characters = 0
    }
    await storing
    if (rows.length > 0) await store(rows, storing)
    return { parts, rowCount, warnings: warnings.kinds }
  } finally {
    await storing.catch(() => {})
    await records.return(undefined)
  }
}

/** The stored contact of each row: rows without a shared key may belong to the same one. */
async function storedContactsOf(tenant: Tenant, rows: readonly Row[]): Promise<(string | null)[]> {
  const keys = rows.map(({ record }) => recordIn(record) ?? { externalId: null, email: null })
  const externalIds = keys.flatMap(({ externalId }) => externalId ?? [])
  const emails = keys.flatMap(({ email }) => email ?? [])
  const byExternalId = await contactsOfSource(tenant, SOURCE.source, externalIds)
  const byEmail = await contactsOfEmails(tenant, emails)
  return keys.map(({ externalId, email }) => byExternalId.get(externalId ?? '') ?? byEmail.get(email ?? '') ?? null)
}

/** Works on chunks, several at once. If one fails, those in progress are finished and no more are started. */
export async function forEachChunk(
  chunks: AsyncIterable<Chunk>,
  work: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  const inFlight = new Map<Chunk, Promise<void>>()
  let failure: { error: unknown } | undefined
  try {
    for await (const chunk of chunks) {
      while (inFlight.size >= CHUNKS_IN_FLIGHT) await Promise.race(inFlight.values())
      // If two rows belong to one contact, the later one wins.
      const sameContacts = [...inFlight].filter(([other]) => !chunk.contacts.isDisjointFrom(other.contacts))
      await Promise.all(sameContacts.map(([, done]) => done))
      if (failure) break
      const done = work(chunk.rows).catch((error: unknown) => {
        failure ??= { error }
      })
      inFlight.set(
        chunk,
        done.finally(() => inFlight.delete(chunk)),
      )
    }
  } finally {
    await Promise.all(inFlight.values())
  }
  if (failure) throw failure.error
}
