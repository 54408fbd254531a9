import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import { eachAlone, every, type Repeated } from '../../platform/every.ts'
import type { Sweeping } from '../../platform/jobs/jobs.ts'
import { openTenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import { expireSession, LOST_AFTER_MS, SOCIAL_LOGINS } from './sessions.ts'

const EVERY_MS = 5_000
const ROWS_AT_ONCE = 500
const RETENTION_MS = 30 * DAY_MS

/**
 * Fails logins whose deadline has passed, which erases their secrets; requeues logins whose job was lost with its
 * process; deletes old sessions. A failure with one login does not affect the others.
 */
export async function sweepLogins({ stores, jobs, clock, log }: Sweeping): Promise<void> {
  const { database } = stores
  const now = clock()
  const expired = await database
    .selectFrom('social_sessions')
    .select(['tenant_id', 'session_id'])
    .where('finished_at', 'is', null)
    .where('deadline_at', '<=', now)
    .where(isOfOpenTenant(stores))
    .limit(ROWS_AT_ONCE)
    .execute()
  const failures = await eachAlone(expired, async ({ tenant_id, session_id }) => {
    await expireSession(openTenant(stores, tenant_id), session_id, now)
  })

  const lost = await database
    .selectFrom('social_sessions')
    .select(['tenant_id', 'session_id', 'step'])
    .where('finished_at', 'is', null)
    .where('wake_by', '<=', now)
    .where(isOfOpenTenant(stores))
    .limit(ROWS_AT_ONCE)
    .execute()
  const failuresOfLost = await eachAlone(lost, ({ tenant_id, session_id, step }) =>
    openTenant(stores, tenant_id).transaction(async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('social_sessions')
        .set({ wake_by: new Date(now.getTime() + LOST_AFTER_MS) })
        .where('session_id', '=', session_id)
        .where('step', '=', step)
        .where('wake_by', '<=', now)
        .where('finished_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows > 0n) await jobs.send(tx, SOCIAL_LOGINS, { sessionId: session_id, step })
    }),
  )
  failures.push(...failuresOfLost)
  if (failures.length > 0) {
    const failed = { err: failures[0], count: failures.length }
    log.warn(failed, 'some social logins could not be swept; retrying in the next round')
  }

  const old = new Date(now.getTime() - RETENTION_MS)
  await database.deleteFrom('social_sessions').where('finished_at', '<', old).execute()
  await database.deleteFrom('social_sandbox_logins').where('created_at', '<', old).execute()
}

export function startSweeping(sweeping: Sweeping): Repeated {
  return every(EVERY_MS, () =>
    sweepLogins(sweeping).catch((error) => {
      sweeping.log.warn({ err: error }, 'social logins could not be swept; retrying in the next round')
    }),
  )
}
