import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { InsightKind } from '../insights/kinds.ts'
import { namesIn } from '../operations/audit.ts'
import type { Context, Values } from '../operations/declare.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { lockTiles, namesOfDashboardsWith } from './dashboards.ts'
import { etagOfReport, type Report, toReport } from './report-object.ts'

const REPORTS_MAX = 500

/** A page of the reports whose names contain every word of the search, the one that changed last first. */
export async function listReports(
  tenant: Tenant,
  search: string | undefined,
  page: Page,
): Promise<{ reports: Report[]; total: number }> {
  const found = withSharing(tenant).where((eb) =>
    eb.and(wordsOf(search).map((word) => contains(sql`fold_text(name)`, word))),
  )
  const [rows, counted] = await Promise.all([
    found.orderBy('updated_at', 'desc').orderBy('report_id', 'desc').limit(page.limit).offset(offsetOf(page)).execute(),
    found
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  return { reports: rows.map(toReport), total: Number(counted.count) }
}

/** The reports with these ids that exist, by id. */
export async function reportsById(tenant: Tenant, ids: readonly string[]): Promise<Map<string, Report>> {
  if (ids.length === 0) return new Map()
  const rows = await withSharing(tenant).where('report_id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.report_id, toReport(row)]))
}

/** @throws ServiceError 404. */
export async function readReport(tenant: Tenant, reportId: string): Promise<Report> {
  const row = await withSharing(tenant).where('report_id', '=', reportId).executeTakeFirst()
  if (!row) throw notFound('report')
  return toReport(row)
}

/** Saves a question that was answered. @throws ServiceError 400; 409 `too_many_reports`. */
export async function createReport(
  tx: Tenant,
  { name, kind, question }: { name: string; kind: InsightKind; question: Values },
  now: Date,
): Promise<Report> {
  const wanted = { name: requireName(name), kind, question: JSON.stringify(question) }
  const all = tx.db.selectFrom('reports').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${REPORTS_MAX} reports. Delete an unused one.`
  await requireFewer(tx, 'reports', REPORTS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const row = await tx.db
    .insertInto('reports')
    .values({ report_id: newId(), ...wanted, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toReport({ ...row, shared_at: null })
}

/**
 * Changes the name or the question of a report; undefined fields are unchanged.
 * @returns the names of the changed fields.
 * @throws ServiceError 404, 400; 412 `changed_meanwhile`.
 */
export async function updateReport(
  tx: Tenant,
  reportId: string,
  { name, question }: { name?: string | undefined; question?: Values | undefined },
  { now, requireMatch }: Pick<Context, 'now' | 'requireMatch'>,
): Promise<{ report: Report; changed: string[] }> {
  const before = await lockReport(tx, reportId)
  requireMatch(etagOfReport(before))
  const wanted = { name: name === undefined ? before.name : requireName(name), question: question ?? before.question }
  const changed = (['name', 'question'] as const).filter((field) => !isDeepStrictEqual(wanted[field], before[field]))
  if (changed.length === 0) return { report: before, changed }
  await tx.db
    .updateTable('reports')
    .set({ name: wanted.name, question: JSON.stringify(wanted.question), updated_at: now })
    .where('report_id', '=', reportId)
    .execute()
  return { report: await readReport(tx, reportId), changed }
}

/** What else uses reports: features do not import each other in circles. */
export interface ReportUsers {
  /** The names of the alerts that watch a report. */
  alertsOfReport(tenant: Tenant, reportId: string): Promise<string[]>
}

/** Reads a report, and keeps it as it is until the transaction ends; undefined if there is none. */
export async function holdReport(tx: Tenant, reportId: string): Promise<Report | undefined> {
  const row = await withSharing(tx).where('report_id', '=', reportId).forShare().executeTakeFirst()
  return row && toReport(row)
}

/** @throws ServiceError 404; 409 `report_in_use` while a dashboard or an alert uses it; 412 `changed_meanwhile`. */
export async function deleteReport(
  tx: Tenant,
  reportId: string,
  { requireMatch, alertsOfReport }: Pick<Context, 'requireMatch'> & ReportUsers,
): Promise<Report> {
  await lockTiles(tx)
  const report = await lockReport(tx, reportId)
  requireMatch(etagOfReport(report))
  const names = await namesOfDashboardsWith(tx, reportId)
  if (names.length > 0) {
    const message = `These dashboards show the report: ${names.join(', ')}. Remove its tiles first.`
    throw conflict('report_in_use', message)
  }
  const alerts = await alertsOfReport(tx, reportId)
  if (alerts.length > 0) {
    throw conflict('report_in_use', `These alerts watch the report: ${alerts.join(', ')}. Delete them first.`)
  }
  await tx.db.deleteFrom('reports').where('report_id', '=', reportId).execute()
  return report
}

/** The names of reports, for the audit log. */
export function namesOfReports({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('reports').select(['report_id as id', 'name']).where('report_id', 'in', ids))
}

async function lockReport(tx: Tenant, reportId: string): Promise<Report> {
  const row = await withSharing(tx).where('report_id', '=', reportId).forUpdate().executeTakeFirst()
  if (!row) throw notFound('report')
  return toReport(row)
}

/** The reports, each with when it was shared. */
function withSharing({ db }: Tenant) {
  return db
    .selectFrom('reports')
    .selectAll('reports')
    .select((eb) =>
      eb
        .selectFrom('share_links')
        .select('share_links.created_at')
        .whereRef('share_links.report_id', '=', 'reports.report_id')
        .as('shared_at'),
    )
}
