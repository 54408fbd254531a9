import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { namesIn } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { lock } from '../platform/postgres/locks.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COLUMNS, type Dashboard, etagOfDashboard, type Tile, toDashboard } from './dashboard-object.ts'

const DASHBOARDS_MAX = 200

type Wanted = Pick<Dashboard, 'name' | 'tiles' | 'range' | 'where'>

/** Waits for others that change which reports the dashboards show, or delete a report. */
export function lockTiles(tx: Tenant): Promise<void> {
  return lock(tx.db, 'dashboards', tx.id)
}

/** A page of the dashboards whose names contain every word of the search, the one that changed last first. */
export async function listDashboards(
  tenant: Tenant,
  search: string | undefined,
  page: Page,
): Promise<{ dashboards: Dashboard[]; total: number }> {
  const found = withSharing(tenant).where((eb) =>
    eb.and(wordsOf(search).map((word) => contains(sql`fold_text(name)`, word))),
  )
  const [rows, counted] = await Promise.all([
    found
      .orderBy('updated_at', 'desc')
      .orderBy('dashboard_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    found
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  return { dashboards: rows.map(toDashboard), total: Number(counted.count) }
}

/** @throws ServiceError 404. */
export async function readDashboard(tenant: Tenant, dashboardId: string): Promise<Dashboard> {
  const dashboard = await findDashboard(tenant, dashboardId)
  if (dashboard === null) throw notFound('dashboard')
  return dashboard
}

export async function findDashboard(tenant: Tenant, dashboardId: string): Promise<Dashboard | null> {
  const row = await withSharing(tenant).where('dashboard_id', '=', dashboardId).executeTakeFirst()
  return row ? toDashboard(row) : null
}

/** @throws ServiceError 400 naming every invalid field; 409 `too_many_dashboards`. */
export async function createDashboard(tx: Tenant, wanted: Wanted, now: Date): Promise<Dashboard> {
  const all = tx.db.selectFrom('dashboards').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${DASHBOARDS_MAX} dashboards. Delete an unused one.`
  // Acquires the same lock as `lockTiles`.
  await requireFewer(tx, 'dashboards', DASHBOARDS_MAX, () => all.executeTakeFirstOrThrow(), message)
  const columns = await columnsOf(tx, wanted)
  const row = await tx.db
    .insertInto('dashboards')
    .values({ dashboard_id: newId(), ...columns, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toDashboard({ ...row, shared_at: null })
}

/**
 * Changes a dashboard; undefined fields are unchanged.
 * @returns the names of the changed fields.
 * @throws ServiceError 404, 400 naming every invalid field; 412 `changed_meanwhile`.
 */
export async function updateDashboard(
  tx: Tenant,
  dashboardId: string,
  changes: { [Field in keyof Wanted]?: Wanted[Field] | undefined },
  { now, requireMatch }: Pick<Context, 'now' | 'requireMatch'>,
): Promise<{ dashboard: Dashboard; changed: string[] }> {
  await lockTiles(tx)
  const before = await readDashboard(tx, dashboardId)
  requireMatch(etagOfDashboard(before))
  const { name = before.name, tiles = before.tiles, range = before.range, where = before.where } = changes
  const columns = await columnsOf(tx, { name, tiles, range, where })
  const row = { ...before, name: columns.name, tiles, range, where }
  const changed = (['name', 'tiles', 'range', 'where'] as const).filter(
    (field) => !isDeepStrictEqual(row[field], before[field]),
  )
  if (changed.length === 0) return { dashboard: before, changed }
  await tx.db
    .updateTable('dashboards')
    .set({ ...columns, updated_at: now })
    .where('dashboard_id', '=', dashboardId)
    .execute()
  return { dashboard: await readDashboard(tx, dashboardId), changed }
}

/** Deletes a dashboard; its reports stay. @throws ServiceError 404; 412 `changed_meanwhile`. */
export async function deleteDashboard(
  tx: Tenant,
  dashboardId: string,
  requireMatch: Context['requireMatch'],
): Promise<Dashboard> {
  await lockTiles(tx)
  const dashboard = await readDashboard(tx, dashboardId)
  requireMatch(etagOfDashboard(dashboard))
  await tx.db.deleteFrom('dashboards').where('dashboard_id', '=', dashboardId).execute()
  return dashboard
}

/** The dashboards, each with when it was shared. */
function withSharing({ db }: Tenant) {
  return db
    .selectFrom('dashboards')
    .selectAll('dashboards')
    .select((eb) =>
      eb
        .selectFrom('share_links')
        .select('share_links.created_at')
        .whereRef('share_links.dashboard_id', '=', 'dashboards.dashboard_id')
        .as('shared_at'),
    )
}

/** The names of the dashboards that show a report. */
export async function namesOfDashboardsWith({ db }: Tenant, reportId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('dashboards')
    .select('name')
    .where(sql<boolean>`tiles @> ${JSON.stringify([{ report_id: reportId }])}::jsonb`)
    .orderBy('name')
    .execute()
  return rows.map(({ name }) => name)
}

/** The names of dashboards, for the audit log. */
export function namesOfDashboards({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('dashboards').select(['dashboard_id as id', 'name']).where('dashboard_id', 'in', ids))
}

async function columnsOf(tx: Tenant, { name, tiles, range, where }: Wanted) {
  const checked = { name: requireName(name) }
  await requireTiles(tx, tiles)
  return {
    ...checked,
    tiles: JSON.stringify(tiles.map(asStored)),
    range: range === null ? null : JSON.stringify(range),
    conditions: JSON.stringify(where),
  }
}

/** With the id as it is stored, so that it is found. */
function asStored(tile: Tile): Tile {
  return tile.report_id === undefined ? tile : { ...tile, report_id: tile.report_id.toLowerCase() }
}

/** What the schema cannot check. @throws ServiceError 400 naming every invalid field. */
async function requireTiles({ db }: Tenant, tiles: readonly Tile[]): Promise<void> {
  const ids = [
    ...new Set(tiles.flatMap(({ report_id: id }) => (id !== undefined && isUuid(id) ? [id.toLowerCase()] : []))),
  ]
  const rows =
    ids.length === 0 ? [] : await db.selectFrom('reports').select('report_id').where('report_id', 'in', ids).execute()
  const known = new Set(rows.map(({ report_id }) => report_id))
  const details = tiles.flatMap(({ report_id: id, text, view, x, width }, index) => {
    const path = `tiles[${index}]`
    const isOne = (id === undefined) !== (text === undefined)
    return [
      isOne ? [] : [{ path, message: 'must have either report_id or text' }],
      text === undefined || view === undefined ? [] : [{ path: `${path}.view`, message: 'is for tiles with a report' }],
      id === undefined || known.has(id.toLowerCase())
        ? []
        : [{ path: `${path}.report_id`, message: 'must be the id of a report' }],
      x + width <= COLUMNS ? [] : [{ path: `${path}.width`, message: `must end within the ${COLUMNS} columns` }],
    ].flat()
  })
  if (details.length > 0) throw validationError(details)
}
