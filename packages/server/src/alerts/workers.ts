import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import type { InsightServices } from '../insights/question.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../platform/due-rows.ts'
import type { Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { isFree } from '../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { checkAlert } from './check.ts'

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
  return workOnDue({
    readDue: () =>
      stores.database
        .selectFrom('alerts')
        .distinctOn('tenant_id')
        .select(['tenant_id', 'alert_id'])
        .where('next_check_at', '<=', clock())
        .where(isFree)
        .where(isOfOpenTenant(stores))
        .orderBy('tenant_id')
        .orderBy('next_check_at')
        .limit(TENANTS_AT_ONCE)
        .execute(),
    work: ({ tenant_id, alert_id }) => checkAlert(openTenant(stores, tenant_id), services, alert_id),
    noun: 'an alert',
    log,
  })
}
