import type { Config } from '../config.ts'
import type { InsightServices } from '../insights/question.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../platform/due-rows.ts'
import type { Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { isFree } from '../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { sendMondayMail } from './monday-mail.ts'

/** Sends the mails of dashboards that are due. */
export function startMondayMails({
  stores,
  config,
  secrets,
  clock,
  log,
  compileEventFilter,
  copyPeople,
}: InsightServices & { stores: Stores; config: Config; secrets: SecretBox; clock: Clock; log: Logger }): Repeated {
  const { publicUrl } = config
  const mailer = createMailer(config)
  const services = { stores, clock, log, mailer, secrets, publicUrl, compileEventFilter, copyPeople }
  return workOnDue({
    readDue: () =>
      stores.database
        .selectFrom('dashboard_subscriptions')
        .distinctOn('tenant_id')
        .select(['tenant_id', 'dashboard_id', 'user_id'])
        .where('next_mail_at', '<=', clock())
        .where(isFree)
        .where(isOfOpenTenant(stores))
        .orderBy('tenant_id')
        .orderBy('next_mail_at')
        .limit(TENANTS_AT_ONCE)
        .execute(),
    work: ({ tenant_id, ...key }) => sendMondayMail(openTenant(stores, tenant_id), services, key),
    noun: 'a mail of a dashboard',
    log,
  })
}
