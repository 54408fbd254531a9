import { emailsOfMembers } from '../access/members.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { followNumber } from '../insights/kinds.ts'
import { type InsightServices, type QuestionContext, zoneOf } from '../insights/question.ts'
import { startOfUnit } from '../insights/range.ts'
import { toRecords } from '../journal/append.ts'
import type { Values } from '../operations/declare.ts'
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
import { type Clock, HOUR_MS, MINUTE_MS } from '../platform/time.ts'
import type { Report } from '../reports/report-object.ts'
import { readReport } from '../reports/reports.ts'
import type { AlertRow, CheckEvery } from './alert-object.ts'
import { eventOfFiring, type Firing, mailOf } from './message.ts'
import { readPoints } from './points.ts'
import { type Condition, type Judged, judge } from './rule.ts'

/** Events of the last minutes of an interval may be on their way. */
const LATE_MS = 5 * MINUTE_MS
const RETRY_MS = 5 * MINUTE_MS
/** Until someone mends the report or the alert. */
const WRONG_RETRY_MS = HOUR_MS
/** After a longer pause, such as one of the service, only the newest interval is judged. */
const JUDGED_MAX = 24

export interface CheckServices extends InsightServices {
  stores: Stores
  clock: Clock
  log: Pick<Logger, 'warn'>
  append: WriteServices['append']
  mailer: Mailer | null
  publicUrl: string
}

/** What a check found. */
interface Found {
  firings: Firing[]
  after: Judged
  /** The number of the interval that was judged last. */
  value: number | null
}

/**
 * Checks an alert that is due, if no other process does. What it found is stored together with the events, only while the
 * alert is still the one that was claimed; mails follow.
 */
export async function checkAlert(tenant: Tenant, services: CheckServices, alertId: string): Promise<void> {
  const now = services.clock()
  const alert = await claimAlert(tenant, alertId, now)
  if (!alert) return
  try {
    const report = await readReport(tenant, alert.report_id)
    const zone = await zoneOf(tenant, report.question)
    const next = new Date(startOfUnit(alert.check_every as CheckEvery, zone, now, 1).getTime() + LATE_MS)
    const found = await whileClaimed('alert', claimed(tenant, alert), () =>
      look(tenant, services, { alert, report }, now),
    )
    await tenant.transaction(async (tx) => {
      const { after, value, firings } = found
      const state = { last_interval: after.interval, is_met: after.isMet, last_value: value, last_error: null }
      const fired = firings.length > 0 ? { triggered_at: now } : {}
      const columns = { ...state, ...fired, ...RELEASED, last_checked_at: now, next_check_at: next }
      await updateClaimed(claimed(tx, alert).set(columns))
      const events = firings.map((firing) => eventOfFiring(firing, now))
      await services.append(tx, toRecords(tx.id, events), [])
    })
    await mail(tenant, services, alert, found.firings)
  } catch (error) {
    // It was changed or deleted meanwhile.
    if (error instanceof ClaimLost) return
    await noteFailure(tenant, services, alert, error)
  }
}

async function claimAlert({ db }: Tenant, alertId: string, now: Date): Promise<AlertRow | undefined> {
  return db
    .updateTable('alerts')
    .set(newClaim('alert'))
    .where('alert_id', '=', alertId)
    .where('next_check_at', '<=', now)
    .where(isFree)
    .returningAll()
    .executeTakeFirst()
}

function claimed({ db }: Tenant, { alert_id, claim }: AlertRow) {
  return db
    .updateTable('alerts')
    .where('alert_id', '=', alert_id)
    .where(isClaimed(claim ?? ''))
}

/** Judges the intervals that are new since the last check. */
async function look(
  tenant: Tenant,
  services: CheckServices,
  { alert, report }: { alert: AlertRow; report: Report },
  now: Date,
): Promise<Found> {
  const { compileEventFilter, copyPeople } = services
  // Whoever created the alert could ask.
  const may = { requireScope: () => {}, warn: () => {}, visibleOnly: false }
  const context: QuestionContext = { tenant, now, compileEventFilter, copyPeople, ...may }
  const condition = alert.condition as Condition
  const { running } = alert.at as Values
  const isRunning = running === true
  const followed = await followNumber(context, report, alert.at)
  const points = await readPoints(followed, condition, {
    count: JUDGED_MAX,
    isRunning,
    choose: (keys) => newSince(keys, alert.last_interval, isRunning),
  })
  const before = { interval: alert.last_interval, isMet: alert.is_met }
  const { fires, after } = judge(condition, points, before, isRunning)
  const firings = points.filter((_, index) => fires[index]).map((point) => ({ alert, report, condition, point }))
  const latest = points.at(-1)
  return { firings, after, value: latest ? latest.value : alert.last_value }
}

/** The intervals to judge: those after the last one, which is judged again if it was not over. */
function newSince(keys: readonly string[], last: string | null, isRunning: boolean): string[] {
  const index = last === null ? -1 : keys.indexOf(last)
  if (index < 0) return keys.slice(-1)
  return keys.slice(isRunning ? index : index + 1)
}

/** Tells the recipients that are still members. A mail that cannot be sent is noted; the event is there in any case. */
async function mail(
  tenant: Tenant,
  services: CheckServices,
  alert: AlertRow,
  firings: readonly Firing[],
): Promise<void> {
  const { stores, mailer, publicUrl, log } = services
  const message = mailOf(firings, publicUrl)
  if (message === null || alert.mail_to.length === 0) return
  const emails = await emailsOfMembers(stores.database, tenant.id, alert.mail_to)
  const failed: string[] = []
  for (const to of emails.values()) {
    try {
      if (mailer === null) throw new Error('CDS_SMTP_URL is not set')
      await mailer.send({ to, ...message })
    } catch (err) {
      log.warn({ err, tenant_id: tenant.id, alert_id: alert.alert_id }, 'the mail of an alert could not be sent')
      failed.push(to)
    }
  }
  if (failed.length === 0) return
  const what = failed.length === emails.size ? 'The mail' : `The mail to ${failed.length} of ${emails.size} members`
  const error = {
    code: 'mail_failed',
    message: `${what} about the last firing could not be sent. The operator finds the reason in the log.`,
  }
  await tenant.db
    .updateTable('alerts')
    .set({ last_error: JSON.stringify(error) })
    .where('alert_id', '=', alert.alert_id)
    .execute()
}

/** Stores why a check failed. What is wrong with the alert or its report stays wrong; anything else may pass sooner. */
async function noteFailure(tenant: Tenant, services: CheckServices, alert: AlertRow, error: unknown): Promise<void> {
  const { clock, log } = services
  const now = clock()
  const isKnown = error instanceof ServiceError && error.status < 500
  const shown = isKnown
    ? { code: error.code, message: error.message }
    : { code: 'check_failed', message: 'The service could not check the alert. It tries again every 5 minutes.' }
  if (!isKnown)
    log.warn({ err: error, tenant_id: tenant.id, alert_id: alert.alert_id }, 'an alert could not be checked')
  const next = new Date(now.getTime() + (isKnown ? WRONG_RETRY_MS : RETRY_MS))
  const columns = { last_error: JSON.stringify(shown), last_checked_at: now, next_check_at: next, ...RELEASED }
  await claimed(tenant, alert).set(columns).execute()
}
