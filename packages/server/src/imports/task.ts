import type { Tenant } from '../platform/tenant.ts'
import type { ImportState } from './import-object.ts'

const PROGRESS_EVERY_MS = 1_000

/** The state of the import changed while a job worked on it. The job ends and changes nothing more. */
export class Ended extends Error {}

/** An import while a job works on it. */
export interface Task {
  tenant: Tenant
  importId: string
  /** The state that it must keep. */
  state: ImportState
  /** @throws Ended when the import was cancelled, and the reason when the process stops. */
  check(tx?: Tenant): Promise<void>
  setProgress(progress: number): Promise<void>
}

/** @param signal aborts when the process stops. */
export function openTask(tenant: Tenant, importId: string, state: ImportState, signal: AbortSignal): Task {
  let savedAt = 0
  return {
    tenant,
    importId,
    state,
    check: async (tx) => {
      signal.throwIfAborted()
      const query = (tx ?? tenant).db.selectFrom('imports').select('state').where('import_id', '=', importId)
      // In a transaction, a concurrent cancellation, which locks the row for an update, waits for its commit.
      const found = await (tx ? query.forKeyShare() : query).executeTakeFirst()
      if (found?.state !== state) throw new Ended()
    },
    setProgress: async (progress) => {
      const now = performance.now()
      if (now - savedAt < PROGRESS_EVERY_MS) return
      savedAt = now
      signal.throwIfAborted()
      const { numUpdatedRows } = await tenant.db
        .updateTable('imports')
        .set({ progress })
        .where('import_id', '=', importId)
        .where('state', '=', state)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new Ended()
    },
  }
}
