import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { namesIn } from '../operations/audit.ts'
import type { Context, Values } from '../operations/declare.ts'
import { notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { RELEASED } from '../platform/postgres/lease.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Report } from '../reports/report-object.ts'
import { holdReport, readReport, reportsById } from '../reports/reports.ts'
import { type Alert, type AlertRow, type CheckEvery, etagOfAlert, toAlert } from './alert-object.ts'
import type { Condition } from './rule.ts'

/** Each may read all of the tenant's events every hour. */
const ALERTS_MAX = 100

/** What a request says of an alert. */
export interface Wanted {
  name: string
  report_id: string
  at: Values
  condition: Condition
  check_every: CheckEvery
  mail_to: string[]
  enabled: boolean
}
const FIELDS = ['name', 'report_id', 'at', 'condition', 'check_every', 'mail_to', 'enabled'] as const
/** Changes of these start the alert afresh: what was judged before says nothing about them. */
const JUDGED_FIELDS: readonly string[] = ['report_id', 'at', 'condition', 'enabled']

type Caller = Pick<Context, 'tenant' | 'scopes'>

/** A page of the alerts whose names contain every word of the search, the one that changed last first. */
export async function listAlerts(
  { tenant, scopes }: Caller,
  search: string | undefined,
  page: Page,
): Promise<{ alerts: Alert[]; total: number }> {
  const found = tenant.db
    .selectFrom('alerts')
    .where((eb) => eb.and(wordsOf(search).map((word) => contains(sql`fold_text(name)`, word))))
  const [rows, counted] = await Promise.all([
    found
      .selectAll()
      .orderBy('updated_at', 'desc')
      .orderBy('alert_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  const reports = await reportsById(
    tenant,
    rows.map(({ report_id: id }) => id),
  )
  const alerts = rows.flatMap((row) => {
    const report = reports.get(row.report_id)
    return report ? [toAlert(row, report, scopes)] : []
  })
  return { alerts, total: Number(counted.count) }
}

/** @throws ServiceError 404. */
export async function readAlert({ tenant, scopes }: Caller, alertId: string): Promise<Alert> {
  const row = await selectAlert(tenant, alertId).executeTakeFirst()
  if (!row) throw notFound('alert')
  return toAlert(row, await readReport(tenant, row.report_id), scopes)
}

/** @throws ServiceError 400, 404; 409 `too_many_alerts`. */
export async function createAlert({ tenant: tx, now, scopes }: Context, wanted: Wanted): Promise<Alert> {
  const all = tx.db.selectFrom('alerts').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${ALERTS_MAX} alerts. Delete an unused one.`
  await requireFewer(tx, 'alerts', ALERTS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const report = requireFound(await holdReport(tx, wanted.report_id))
  const row = await tx.db
    .insertInto('alerts')
    .values({
      ...columnsOf({ ...wanted, name: requireName(wanted.name) }),
      alert_id: newId(),
      next_check_at: wanted.enabled ? now : null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAlert(row, report, scopes)
}

/**
 * Changes an alert; undefined fields are unchanged. Unless only its name or its recipients change, it is checked at once.
 * @returns the names of the changed fields.
 * @throws ServiceError 404, 400; 412 `changed_meanwhile`.
 */
export async function updateAlert(
  { tenant: tx, now, scopes, requireMatch }: Context,
  alertId: string,
  changes: { [Field in keyof Wanted]?: Wanted[Field] | undefined },
): Promise<{ alert: Alert; changed: string[] }> {
  const before = await lockAlert(tx, scopes, alertId)
  requireMatch(etagOfAlert(before))
  const wanted = withChanges(before, changes)
  wanted.name = requireName(wanted.name)
  const changed = FIELDS.filter((field) => !isDeepStrictEqual(wanted[field], before[field]))
  if (changed.length === 0) return { alert: before, changed }
  const report = requireFound(await holdReport(tx, wanted.report_id))
  const isFresh = changed.some((field) => JUDGED_FIELDS.includes(field))
  const isDue = isFresh || changed.includes('check_every')
  const row = await tx.db
    .updateTable('alerts')
    .set({
      ...columnsOf(wanted),
      updated_at: now,
      ...(isDue ? { next_check_at: wanted.enabled ? now : null } : {}),
      // A check that is under way stores nothing.
      ...(isFresh ? { ...RELEASED, last_interval: null, last_value: null, is_met: false, last_error: null } : {}),
    })
    .where('alert_id', '=', alertId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { alert: toAlert(row, report, scopes), changed }
}

/** The fields of an alert with some of them changed. */
export function withChanges(
  { name, report_id, at, condition, check_every, mail_to, enabled }: Alert,
  changes: { [Field in keyof Wanted]?: Wanted[Field] | undefined },
): Wanted {
  const sent = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  return { name, report_id, at, condition, check_every, mail_to, enabled, ...sent }
}

/** @throws ServiceError 404; 412 `changed_meanwhile`. */
export async function deleteAlert(
  { tenant: tx, scopes, requireMatch }: Pick<Context, 'tenant' | 'scopes' | 'requireMatch'>,
  alertId: string,
): Promise<Alert> {
  const alert = await lockAlert(tx, scopes, alertId)
  requireMatch(etagOfAlert(alert))
  await tx.db.deleteFrom('alerts').where('alert_id', '=', alertId).execute()
  return alert
}

/** The report that a request names. @throws ServiceError 400. */
export async function readReportOf(tenant: Tenant, reportId: string): Promise<Report> {
  return requireFound(
    isUuid(reportId) ? (await reportsById(tenant, [reportId.toLowerCase()])).get(reportId.toLowerCase()) : undefined,
  )
}

function requireFound(report: Report | undefined): Report {
  if (!report) throw validationError([{ path: 'report_id', message: 'must be the id of a report' }])
  return report
}

/** The names of the alerts that watch a report. */
export async function alertsOfReport({ db }: Tenant, reportId: string): Promise<string[]> {
  const rows = await db.selectFrom('alerts').select('name').where('report_id', '=', reportId).orderBy('name').execute()
  return rows.map(({ name }) => name)
}

/** The names of alerts, for the audit log. */
export function namesOfAlerts({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('alerts').select(['alert_id as id', 'name']).where('alert_id', 'in', ids))
}

async function lockAlert(tx: Tenant, scopes: ReadonlySet<string>, alertId: string): Promise<Alert> {
  const row = await selectAlert(tx, alertId).forUpdate().executeTakeFirst()
  if (!row) throw notFound('alert')
  return toAlert(row, await readReport(tx, row.report_id), scopes)
}

function selectAlert({ db }: Tenant, alertId: string) {
  return db.selectFrom('alerts').selectAll().where('alert_id', '=', alertId)
}

function columnsOf({ at, condition, ...columns }: Wanted): Pick<AlertRow, keyof Wanted> {
  return { ...columns, at: JSON.stringify(at), condition: JSON.stringify(condition) }
}
