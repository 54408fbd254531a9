import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import type { InsightServices } from '../insights/question.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { isFree } from '../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { checkAlert } from './check.ts'

const SWEEP_MS = 2_000
const TENANTS_AT_ONCE = 100

/** Checks the alerts that are due, one after another. Several processes may do so at the same time. */
export function startAlertWorkers({
  stores,
  config,
  clock,
  log,
  writing,
  ...insights
}: InsightServices & {
  stores: Stores
  config: Config
  clock: Clock
  log: Logger
  writing: WriteServices
}): Repeated {
  const { append } = writing
  const { compileEventFilter, copyPeople } = insights
  const { publicUrl } = config
  const services = {
    stores,
    clock,
    log,
    append,
    mailer: createMailer(config),
    publicUrl,
    compileEventFilter,
    copyPeople,
  }
  let isStopping = false

  /** One alert of each tenant, so that none waits for all of another's. @returns how many were due. */
  async function checkOneOfEach(): Promise<number> {
    const due = await stores.database
      .selectFrom('alerts')
      .distinctOn('tenant_id')
      .select(['tenant_id', 'alert_id'])
      .where('next_check_at', '<=', clock())
      .where(isFree)
      .where(isOfOpenTenant(stores))
      .orderBy('tenant_id')
      .orderBy('next_check_at')
      .limit(TENANTS_AT_ONCE)
      .execute()
    const failures = await eachAlone(due, async ({ tenant_id, alert_id }) => {
      if (!isStopping) await checkAlert(openTenant(stores, tenant_id), services, alert_id)
    })
    for (const err of failures) log.warn({ err }, 'an alert could not be checked; retrying shortly')
    return due.length - failures.length
  }

  const repeated = every(SWEEP_MS, async () => {
    try {
      while (!isStopping && (await checkOneOfEach()) > 0);
    } catch (err) {
      log.warn({ err }, 'alerts that are due could not be looked for; retrying shortly')
    }
  })
  return {
    stop: async () => {
      isStopping = true
      await repeated.stop()
    },
  }
}
