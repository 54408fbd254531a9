import { type Member, readMember } from '../access/members.ts'
import { readTenant } from '../access/tenants.ts'
import { type InsightServices, isAboutContacts, type QuestionContext } from '../insights/question.ts'
import type { Values } from '../operations/declare.ts'
import { scopesOf } from '../operations/scopes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/log.ts'
import type { Mailer } from '../platform/mail.ts'
import {
  ClaimLost,
  isClaimed,
  isFree,
  newClaim,
  RELEASED,
  updateClaimed,
  whileClaimed,
} from '../platform/postgres/lease.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'
import { type Clock, MINUTE_MS } from '../platform/time.ts'
import { readDashboard } from './dashboards.ts'
import { completeWeek, isMailTime, nextMailAt } from './monday.ts'
import { mondayUnsubscribeUrl } from './monday-links.ts'
import { type Line, mailOf } from './monday-message.ts'
import { reportsById } from './reports.ts'
import { answerOrError, questionOf } from './run-dashboard.ts'

/** Until Monday is over. */
const RETRY_MS = 15 * MINUTE_MS

interface MailServices extends InsightServices {
  stores: Stores
  clock: Clock
  log: Pick<Logger, 'warn'>
  mailer: Mailer | null
  secrets: SecretBox
  publicUrl: string
}

interface Key {
  dashboard_id: string
  user_id: string
}

/** Sends a mail that is due, if no other process does and it is Monday. */
export async function sendMondayMail(tenant: Tenant, services: MailServices, key: Key): Promise<void> {
  const now = services.clock()
  const claim = await claimSubscription(tenant, key, now)
  if (claim === undefined) return
  const claimed = ofKey(tenant, key).where(isClaimed(claim))
  try {
    const { timeZone } = await readTenant(tenant)
    const next = { next_mail_at: nextMailAt(timeZone, now), ...RELEASED }
    const member = await readMember(services.stores.database, tenant.id, key.user_id)
    if (!isMailTime(timeZone, now) || !scopesOf(member.role).has('events:read')) {
      await updateClaimed(claimed.set(next))
      return
    }
    const message = await whileClaimed('dashboard_mail', claimed, () =>
      messageTo(tenant, services, { member, timeZone, now }, key),
    )
    // First, so that nobody sends it again if this process ends meanwhile.
    await updateClaimed(claimed.set(next))
    if (services.mailer === null) throw new Error('CDS_SMTP_URL is not set')
    await services.mailer.send({ to: member.email, ...message })
  } catch (error) {
    // They unsubscribed, or the dashboard was deleted meanwhile.
    if (!(error instanceof ClaimLost)) await noteFailure(tenant, services, key, error)
    return
  }
  await ofKey(tenant, key).set({ last_mailed_at: now, last_error: null }).execute()
}

async function claimSubscription(tenant: Tenant, key: Key, now: Date): Promise<string | undefined> {
  const row = await ofKey(tenant, key)
    .set(newClaim('dashboard_mail'))
    .where('next_mail_at', '<=', now)
    .where(isFree)
    .returning('claim')
    .executeTakeFirst()
  return row?.claim ?? undefined
}

function ofKey({ db }: Tenant, { dashboard_id, user_id }: Key) {
  return db
    .updateTable('dashboard_subscriptions')
    .where('dashboard_id', '=', dashboard_id)
    .where('user_id', '=', user_id)
}

/** The figures of the week that is over, as the member may see them. */
async function messageTo(
  tenant: Tenant,
  services: MailServices,
  { member, timeZone, now }: { member: Member; timeZone: string; now: Date },
  { dashboard_id: dashboardId, user_id: userId }: Key,
) {
  const { compileEventFilter, copyPeople, publicUrl } = services
  const { name, tiles, where } = await readDashboard(tenant, dashboardId)
  const reports = await reportsById(
    tenant,
    tiles.flatMap(({ report_id: id }) => id ?? []),
  )
  const scopes = scopesOf(member.role)
  const requireScope = (...needed: readonly string[]) => {
    const missing = needed.find((scope) => !scopes.has(scope))
    if (missing === undefined) return
    throw new ServiceError(403, 'insufficient_role', `Your role ${member.role} does not include ${missing}.`)
  }
  const context: QuestionContext = {
    ...{ tenant, now, compileEventFilter, copyPeople, requireScope },
    ...{ warn: () => {}, visibleOnly: false },
  }
  const lines: Line[] = []
  // One after another, so that mails never take the places of other reads of the tenant.
  for (const report of reports.values()) {
    // Those who started in the last week have had no week to come back in.
    const range = completeWeek(timeZone, now, report.kind === 'retention' ? 1 : 0)
    const { breakdown: _, ...asked } = questionOf(report, { range, where, view: 'number' })
    const question: Values = { ...asked, compare: 'previous_period' }
    if (isAboutContacts(question) && !scopes.has('contacts:read')) continue
    lines.push({ report: { ...report, question }, ...(await answerOrError(context, { ...report, question })) })
  }
  const link = `${publicUrl}/insights/dashboards/${dashboardId}`
  const unsubscribeUrl = mondayUnsubscribeUrl(services, { tenantId: tenant.id, dashboardId, userId })
  return { ...mailOf({ name, link, unsubscribeUrl, week: completeWeek(timeZone, now, 0), lines }), unsubscribeUrl }
}

/** Stores that there was no mail. It is tried again while it is Monday. */
async function noteFailure(tenant: Tenant, { clock, log }: MailServices, key: Key, error: unknown): Promise<void> {
  log.warn({ err: error, tenant_id: tenant.id, ...key }, 'the mail of a dashboard could not be sent')
  const shown = {
    code: 'mail_failed',
    message:
      'The mail could not be sent. The service tries again every 15 minutes while it is Monday. The operator finds the reason in the log.',
  }
  await ofKey(tenant, key)
    .set({
      last_error: JSON.stringify(shown),
      next_mail_at: new Date(clock().getTime() + RETRY_MS),
      ...RELEASED,
    })
    .execute()
}
