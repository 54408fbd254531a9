import type { Logger } from '../log.ts'
import { ClaimLost, whileClaimed } from '../postgres/lease.ts'
import type { Clock } from '../time.ts'
import {
  type Changes,
  countFailure,
  failRun,
  pauseRun,
  type Run,
  type RunRows,
  type RunTable,
  releaseRun,
  storable,
  whereClaimed,
} from './run.ts'

/** How runs of a kind are worked on. Their feature declares it once. */
export interface RunKind<Table extends RunTable> {
  rows: RunRows<Table>
  /** Works on a run for a turn: completes it, lets it wait, or returns for other runs to have their turn. */
  step(run: Run<Table>, signal: AbortSignal): Promise<void>
  /** What the run shows of an error, and whether another attempt would fail in the same way. */
  failure(error: unknown, run: Run<Table>): { isFinal: boolean; shown: Changes<Table> & { error: string } }
  /** After more failures than this without progress, the run fails. */
  failuresMax: number
  /** The seconds until the next attempt after so many failures. */
  pauseSeconds(failures: number): number
}

/** The error of a run that was attempted too often. */
export class NoProgress extends Error {
  constructor(failures: number) {
    super(`The run was interrupted ${failures} times and made no progress.`)
  }
}

/** Pauses that double with each failure. */
export function doubling(first: number, max: number): (failures: number) => number {
  return (failures) => Math.min(first * 2 ** Math.min(failures - 1, 20), max)
}

/** What a process needs to work on runs. */
export interface RunServices {
  clock: Clock
  log: Logger
}

/**
 * Works on a run for a turn. Whatever happens to it is stored in its row.
 * @param stopping aborts when this process stops: another one then continues the run.
 */
export async function takeTurn<Table extends RunTable>(
  kind: RunKind<Table>,
  { clock, log }: RunServices,
  run: Run<Table>,
  stopping: AbortSignal,
): Promise<void> {
  const { rows, failuresMax } = kind
  const about = { runs: rows.table, run_id: run.runId, tenant_id: run.tenant.id }
  try {
    const { failures } = run.row
    if (failures > failuresMax) return await failRun(run, kind.failure(new NoProgress(failures), run).shown, clock())
    await whileClaimed(rows.lease, whereClaimed(run), (lost) => kind.step(run, AbortSignal.any([stopping, lost])))
    await releaseRun(run)
  } catch (error) {
    if (error instanceof ClaimLost) return log.info(about, 'a run has ended, or another process continues it')
    if (stopping.aborted) return releaseRun(run)
    log.warn({ err: error, ...about }, 'an attempt of a run failed')
    await noteFailure(kind, run, error, clock()).catch((cause: unknown) => {
      if (!(cause instanceof ClaimLost)) throw cause
    })
  }
}

/** Retries a run after a pause, or fails it. @throws ClaimLost */
async function noteFailure<Table extends RunTable>(
  kind: RunKind<Table>,
  run: Run<Table>,
  error: unknown,
  now: Date,
): Promise<void> {
  const failures = await countFailure(run)
  const isLast = failures > kind.failuresMax
  const { isFinal, shown } = kind.failure(isLast ? new NoProgress(failures) : error, run)
  if (isLast || isFinal) return failRun(run, shown, now)
  const waiting = { seconds: kind.pauseSeconds(failures), waitingFor: 'retry' }
  await pauseRun(run, waiting, { ...shown, error: storable(shown.error) })
}
