import { completeRun, type Run, updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { DestinationRow } from '../destination.ts'
import type { Range } from './parts.ts'
import { RUNS_KEPT } from './requests.ts'

/** A contact that is erased during a run may be listed in this run's manifest and the next. That is better than in none. */
const ERASED_OVERLAP_MS = DAY_MS

export type WarehouseRun = Run<'warehouse_runs'>

/** The rows that a run exports: those that it chose before an interruption, or those that are there now. @throws ClaimLost */
export async function rangeOf(
  run: WarehouseRun,
  { exported_sequence }: DestinationRow,
  cut: () => Promise<number>,
): Promise<Range> {
  const { after_sequence, up_to_sequence, is_full } = run.row
  if (after_sequence !== null && up_to_sequence !== null) {
    return { after: Number(after_sequence), upTo: Number(up_to_sequence) }
  }
  const range = { after: is_full ? -1 : Number(exported_sequence), upTo: await cut() }
  await updateRun(run, { after_sequence: range.after, up_to_sequence: range.upTo })
  return range
}

/** Ends a run after its manifest is written. The next run starts where it ended. @throws ClaimLost */
export async function finishRun(
  run: WarehouseRun,
  { startedAt, upTo, manifest }: { startedAt: Date; upTo: number; manifest: string },
  now: Date,
): Promise<void> {
  const { destination_id: id } = run.row
  await run.tenant.transaction(async (tx) => {
    await completeRun(run, { manifest }, now, tx)
    await tx.db
      .updateTable('warehouse_destinations')
      .set({ exported_sequence: upTo, exported_at: startedAt })
      .where('destination_id', '=', id)
      .execute()
    await deleteOldRuns(tx, id)
  })
}

async function deleteOldRuns(tx: Tenant, destinationId: string): Promise<void> {
  await tx.db
    .deleteFrom('warehouse_runs')
    .where('run_id', 'in', (eb) =>
      eb
        .selectFrom('warehouse_runs')
        .select('run_id')
        .where('destination_id', '=', destinationId)
        .where('status', '=', 'completed')
        .orderBy('created_at', 'desc')
        .orderBy('run_id', 'desc')
        .offset(RUNS_KEPT),
    )
    .execute()
}

/**
 * The manifest lists contacts that were erased since this time. The files of an interrupted first run may contain contacts
 * that were erased while it waited.
 */
export function erasedFrom({ exported_at }: DestinationRow, startedAt: Date): Date {
  return new Date((exported_at ?? startedAt).getTime() - ERASED_OVERLAP_MS)
}

/** The manifest of the latest run that succeeded; null before the first. */
export async function previousManifest({ tenant, runId, row: run }: WarehouseRun): Promise<string | null> {
  const row = await tenant.db
    .selectFrom('warehouse_runs')
    .select('manifest')
    .where('destination_id', '=', run.destination_id)
    .where('status', '=', 'completed')
    .where('run_id', '<>', runId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.manifest ?? null
}
