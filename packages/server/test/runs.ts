import { sql } from 'kysely'
import { claimRun, type Run, type RunRows, type RunTable } from '../src/platform/runs/run.ts'
import type { Tenant } from '../src/platform/tenant.ts'

/** Keeps the service's workers from a run, until a test claims it. */
export async function hold(rows: RunRows, tx: Tenant, runId: string): Promise<void> {
  await setDue(rows, tx, runId, sql`NULL`)
}

/** Moves the time from which a run can be worked on. */
export async function setDue({ table, id }: RunRows, tx: Tenant, runId: string, at = sql`now()`): Promise<void> {
  await sql`UPDATE ${sql.table(table)} SET due_at = ${at} WHERE ${sql.ref(id)} = ${runId}`.execute(tx.unrestricted)
}

/** Makes a run due, and claims it before the service's workers can. An earlier claim is lost. */
export async function claimHeld<Table extends RunTable>(
  rows: RunRows<Table>,
  tenant: Tenant,
  runId: string,
): Promise<Run<Table>> {
  return tenant.transaction(async (tx) => {
    await sql`UPDATE ${sql.table(rows.table)} SET due_at = now(), claim = NULL, claimed_until = NULL
      WHERE ${sql.ref(rows.id)} = ${runId}`.execute(tx.unrestricted)
    const run = await claimRun(rows, tx, runId, new Date())
    if (run === null) throw new Error('The run cannot be claimed.')
    return { ...run, tenant }
  })
}
