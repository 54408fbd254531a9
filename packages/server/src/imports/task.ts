import { holdRun, type Run, updateRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'

const PROGRESS_EVERY_MS = 1_000

/** An import while a process works on it. */
export interface Task {
  run: Run<'imports'>
  tenant: Tenant
  importId: string
  /** @throws ClaimLost when the import was cancelled, or another process has claimed it; the reason when the process stops. */
  check(tx?: Tenant): Promise<void>
  setProgress(progress: number): Promise<void>
}

/** @param signal aborts when the process stops, or may have lost its claim. */
export function openTask(run: Run<'imports'>, signal: AbortSignal): Task {
  const { tenant, runId: importId } = run
  let savedAt = 0
  return {
    run,
    tenant,
    importId,
    check: async (tx = tenant) => {
      signal.throwIfAborted()
      await holdRun(run, tx)
    },
    setProgress: async (progress) => {
      const now = performance.now()
      if (now - savedAt < PROGRESS_EVERY_MS) return
      savedAt = now
      signal.throwIfAborted()
      await updateRun(run, { progress })
    },
  }
}
