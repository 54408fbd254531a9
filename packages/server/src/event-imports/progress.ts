import { hostname } from 'node:os'
import type { Insertable, Selectable } from 'kysely'
import { sql } from 'kysely'
import type { FlushPart } from '../journal/flush-queries.ts'
import { conflict } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { isClaimed, isFreeIn, leaseLeftMs, newClaim, RELEASED } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ImportWarning, Warnings } from './warnings.ts'

/** A file's contents and their format. Each is imported once. */
export interface FileKey {
  digest: string
  format: string
}

/** A file that this process imports. */
export interface ClaimedFile extends FileKey {
  claim: string
}

/** How much of a file has been imported. */
export type Progress = Pick<
  Selectable<TenantTables['event_imports']>,
  | 'lines_done'
  | 'lines_recorded'
  | 'lines_read'
  | 'recorded'
  | 'people'
  | 'failed'
  | 'warned'
  | 'warnings'
  | 'errors_bytes'
  | 'finished_at'
>

const COLUMNS = [
  'lines_done',
  'lines_recorded',
  'lines_read',
  'recorded',
  'people',
  'failed',
  'warned',
  'warnings',
  'errors_bytes',
  'finished_at',
] as const
const FROM_THE_START = {
  lines_done: 0,
  lines_recorded: 0,
  lines_read: 0,
  recorded: 0,
  people: 0,
  failed: 0,
  warned: 0,
  warnings: '[]',
  errors_bytes: 0,
  finished_at: null,
}

/**
 * Claims a file for this process. @param again whether to start from its first line, even if it has been imported.
 * @throws ServiceError 409 `import_running` if another process imports it.
 */
export async function claimFile(
  tenant: Tenant,
  { digest, format }: FileKey,
  again: boolean,
  now: Date,
): Promise<{ file: ClaimedFile; progress: Progress }> {
  const claim = newId()
  const claimed = { ...newClaim('event_import', claim), claimed_by: `process ${process.pid} on ${hostname()}` }
  const restarted = again ? { ...FROM_THE_START, started_at: now } : {}
  const row = { digest, format, started_at: now, ...claimed } as Insertable<TenantTables['event_imports']>
  const progress = await tenant.db
    .insertInto('event_imports')
    .values(row)
    .onConflict((known) =>
      known
        .columns(['digest', 'format'])
        .doUpdateSet({ ...claimed, ...restarted })
        .where(isFreeIn('event_imports')),
    )
    .returning(COLUMNS)
    .executeTakeFirst()
  if (progress) return { file: { digest, format, claim }, progress }
  throw await running(tenant, { digest, format })
}

async function running(tenant: Tenant, { digest, format }: FileKey) {
  const other = await tenant.db
    .selectFrom('event_imports')
    .select(['claimed_by', 'lines_done', leaseLeftMs.as('leaseLeftMs')])
    .where('digest', '=', digest)
    .where('format', '=', format)
    .executeTakeFirst()
  const seconds = Math.ceil((other?.leaseLeftMs ?? 0) / 1_000)
  return conflict(
    'import_running',
    `This file is already being imported by ${other?.claimed_by ?? 'another process'}, which has done ${other?.lines_done ?? 0} lines. If that process was killed, run the command again in ${seconds} seconds.`,
  )
}

/** An update of a file's progress that applies only while this process has claimed the file. */
export function whereClaimed(tenant: Tenant, { digest, format, claim }: ClaimedFile) {
  return tenant.db
    .updateTable('event_imports')
    .where('digest', '=', digest)
    .where('format', '=', format)
    .where(isClaimed(claim))
}

/** Stores that the lines up to one are done; `recordedPart` does the same for events. @param warnings of all lines so far. */
export async function noteDone(
  tenant: Tenant,
  file: ClaimedFile,
  lines: number,
  { read, people, failed, errorsBytes }: { read: number; people: number; failed: number; errorsBytes: number },
  warnings: Warnings,
): Promise<void> {
  await whereClaimed(tenant, file)
    .set({
      lines_done: lines,
      lines_recorded: sql`greatest(lines_recorded, ${lines})`,
      lines_read: sql`lines_read + ${read}`,
      people: sql`people + ${people}`,
      failed: sql`failed + ${failed}`,
      warned: warnings.lines,
      warnings: JSON.stringify(warnings.kinds),
      errors_bytes: errorsBytes,
    })
    .execute()
}

export async function noteFinished(tenant: Tenant, file: ClaimedFile, now: Date): Promise<void> {
  await whereClaimed(tenant, file).set({ finished_at: now }).execute()
}

export async function releaseFile(tenant: Tenant, file: ClaimedFile): Promise<void> {
  await whereClaimed(tenant, file)
    .set({ ...RELEASED, claimed_by: null })
    .execute()
}

export async function readProgress(tenant: Tenant, { digest, format }: FileKey): Promise<Progress> {
  return tenant.db
    .selectFrom('event_imports')
    .select(COLUMNS)
    .where('digest', '=', digest)
    .where('format', '=', format)
    .executeTakeFirstOrThrow()
}

/** The warnings of the lines that are done. */
export function warningsOf({ warned, warnings }: Progress): Warnings {
  return { lines: warned, kinds: warnings as unknown as ImportWarning[] }
}

/**
 * Stores, in the statement that records events, up to which line they are recorded. If the import is interrupted there, the
 * next one records every event exactly once.
 */
export function recordedPart(tenantId: string, file: ClaimedFile, lines: number, events: number): FlushPart {
  return {
    name: 'event_import',
    sql: (first) => `noted AS (
      UPDATE event_imports SET lines_recorded = $${first}, recorded = recorded + $${first + 1}
      WHERE tenant_id = $${first + 2} AND digest = $${first + 3} AND format = $${first + 4} AND claim = $${first + 5})`,
    values: [lines, events, tenantId, file.digest, file.format, file.claim],
  }
}
