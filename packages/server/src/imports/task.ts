import type { Selectable, Updateable } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import { ClaimLost, isClaimed, isFree, newClaim, RELEASED } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ImportState } from './import-object.ts'

const PROGRESS_EVERY_MS = 1_000
/** States in which a process works on an import. */
export const AT_WORK: readonly ImportState[] = ['previewing', 'running', 'undoing']

/** The state of the import changed while a process worked on it, which ends and changes nothing more. */
export class Ended extends Error {}

/** Another process works on the import. */
export class ClaimedByAnother extends Error {}

/** An import while a process works on it. */
export interface Task {
  tenant: Tenant
  importId: string
  /** The state that it must keep. */
  state: ImportState
  /** Proves that no other process works on it. */
  claim: string
  /** @throws Ended when the import was cancelled; ClaimLost; the reason when the process stops. */
  check(tx?: Tenant): Promise<void>
  setProgress(progress: number): Promise<void>
}

/**
 * Claims an import that is to be worked on. @returns null if there is nothing to do.
 * @throws ClaimedByAnother
 */
export async function claimImport(
  tenant: Tenant,
  importId: string,
  claim: string,
): Promise<Selectable<TenantTables['imports']> | null> {
  const row = await tenant.db
    .updateTable('imports')
    .set(({ eb }) => ({ attempts: eb('attempts', '+', 1), ...newClaim('import', claim) }))
    .where('import_id', '=', importId)
    .where('state', 'in', AT_WORK)
    .where(({ or }) => or([isFree, isClaimed(claim)]))
    .returningAll()
    .executeTakeFirst()
  if (row) return row
  const imports = tenant.db.selectFrom('imports').select('import_id').where('import_id', '=', importId)
  const claimed = await imports.where('state', 'in', AT_WORK).executeTakeFirst()
  if (claimed) throw new ClaimedByAnother(`Another process works on the import ${importId}.`)
  return null
}

/** The row of an import that this process has claimed, to be updated. */
export function whereClaimed({ tenant, importId, claim }: Pick<Task, 'tenant' | 'importId' | 'claim'>) {
  return tenant.db.updateTable('imports').where('import_id', '=', importId).where(isClaimed(claim))
}

/** Stores the state in which work on an import ends, unless it has changed meanwhile. */
export async function endTask(
  task: Pick<Task, 'tenant' | 'importId' | 'claim' | 'state'>,
  ended: Updateable<TenantTables['imports']> & { state: ImportState },
): Promise<void> {
  await whereClaimed(task)
    .set({ ...ended, ...RELEASED })
    .where('state', '=', task.state)
    .execute()
}

/** @param signal aborts when the process stops, or may have lost its claim. */
export function openTask(
  tenant: Tenant,
  { importId, state, claim }: Pick<Task, 'importId' | 'state' | 'claim'>,
  signal: AbortSignal,
): Task {
  let savedAt = 0
  const check = async (tx?: Tenant) => {
    signal.throwIfAborted()
    const query = (tx ?? tenant).db.selectFrom('imports').select(['state', 'claim']).where('import_id', '=', importId)
    // In a transaction, a concurrent cancellation, which locks the row for an update, waits for its commit.
    const found = await (tx ? query.forKeyShare() : query).executeTakeFirst()
    if (found?.state !== state) throw new Ended()
    if (found.claim !== claim) throw new ClaimLost()
  }
  return {
    tenant,
    importId,
    state,
    claim,
    check,
    setProgress: async (progress) => {
      const now = performance.now()
      if (now - savedAt < PROGRESS_EVERY_MS) return
      savedAt = now
      signal.throwIfAborted()
      const { numUpdatedRows } = await whereClaimed({ tenant, importId, claim })
        .set({ progress })
        .where('state', '=', state)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) await check()
    },
  }
}
