import { eachAlone, every, type Repeated } from './every.ts'
import type { Logger } from './log.ts'

const SWEEP_MS = 2_000
/** How many tenants a round may serve. */
export const TENANTS_AT_ONCE = 100

/**
 * Works on rows of all tenants that are due, one after another, until none is left; then again after a pause. Several
 * processes may do so at the same time: `work` claims its row.
 * @param readDue one row of each tenant, so that none waits for all of another's.
 * @param noun what a row is, for the log.
 */
export function workOnDue<Row>({
  readDue,
  work,
  noun,
  log,
}: {
  readDue(): Promise<Row[]>
  work(row: Row): Promise<void>
  noun: string
  log: Pick<Logger, 'warn'>
}): Repeated {
  let isStopping = false

  /** @returns how many rows were worked on. */
  async function workOnOneOfEach(): Promise<number> {
    const due = await readDue()
    const failures = await eachAlone(due, async (row) => {
      if (!isStopping) await work(row)
    })
    for (const err of failures) log.warn({ err }, `work on ${noun} failed; retrying shortly`)
    return due.length - failures.length
  }

  const repeated = every(SWEEP_MS, async () => {
    try {
      while (!isStopping && (await workOnOneOfEach()) > 0);
    } catch (err) {
      log.warn({ err }, `${noun} that is due could not be looked for; retrying shortly`)
    }
  })
  return {
    stop: async () => {
      isStopping = true
      await repeated.stop()
    },
  }
}
