import type { Selectable } from 'kysely'
import { type Actor, namesIn } from '../operations/audit.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { UNIQUE_VIOLATION } from '../platform/postgres/collisions.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { NAME_LENGTH_MAX, type SavedView, type ViewBody } from './view-schema.ts'

export const VIEWS_MAX = 200

/** A page of a tenant's saved views, by page and name. */
export async function listViews(tenant: Tenant, page: Page): Promise<{ views: SavedView[]; total: number }> {
  const views = tenant.db.selectFrom('saved_views')
  const [rows, counted] = await Promise.all([
    views.selectAll().orderBy('page').orderBy('name').limit(page.limit).offset(offsetOf(page)).execute(),
    countOf(tenant).executeTakeFirstOrThrow(),
  ])
  return { views: rows.map(toView), total: Number(counted.count) }
}

function countOf(tenant: Tenant) {
  return tenant.db.selectFrom('saved_views').select(({ fn }) => fn.countAll<number>().as('count'))
}

/** @throws ServiceError 404. */
export async function readView(tenant: Tenant, viewId: string): Promise<SavedView> {
  const row = await tenant.db.selectFrom('saved_views').selectAll().where('view_id', '=', viewId).executeTakeFirst()
  if (!row) throw notFound('saved view')
  return toView(row)
}

/** @throws ServiceError 409 `view_name_taken` or `too_many_views`. */
export async function createView(tx: Tenant, body: ViewBody, actor: Actor, now: Date): Promise<SavedView> {
  const message = `A tenant can have at most ${VIEWS_MAX} saved views. Delete an unused one.`
  await requireFewer(tx, 'views', VIEWS_MAX, () => countOf(tx).executeTakeFirstOrThrow(), message)
  const row = await tx.db
    .insertInto('saved_views')
    .values({
      view_id: newId(),
      ...columnsOf(body),
      created_by: JSON.stringify(actor),
      created_at: now,
      updated_at: now,
    })
    .onConflict((known) => known.columns(['page', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw nameTaken()
  return toView(row)
}

/** @throws ServiceError 404, or 409 `view_name_taken`. */
export async function replaceView(tx: Tenant, viewId: string, body: ViewBody, now: Date): Promise<SavedView> {
  const row = await tx.db
    .updateTable('saved_views')
    .set({ ...columnsOf(body), updated_at: now })
    .where('view_id', '=', viewId)
    .returningAll()
    .executeTakeFirst()
    .catch((error: { code?: string }) => {
      throw error.code === UNIQUE_VIOLATION ? nameTaken() : error
    })
  if (!row) throw notFound('saved view')
  return toView(row)
}

/** @throws ServiceError 404. */
export async function deleteView(tx: Tenant, viewId: string): Promise<SavedView> {
  const row = await tx.db.deleteFrom('saved_views').where('view_id', '=', viewId).returningAll().executeTakeFirst()
  if (!row) throw notFound('saved view')
  return toView(row)
}

/** The names of saved views, for the audit log. */
export function namesOfViews({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('saved_views').select(['view_id as id', 'name']).where('view_id', 'in', ids))
}

function columnsOf({ name, page, query, columns }: ViewBody) {
  return { name: requireName(name, NAME_LENGTH_MAX), page, query: JSON.stringify(query), columns }
}

function toView(row: Selectable<TenantTables['saved_views']>): SavedView {
  const creator = row.created_by as Actor
  return {
    view_id: row.view_id,
    name: row.name,
    page: row.page as SavedView['page'],
    query: row.query as SavedView['query'],
    columns: row.columns,
    created_by: 'id' in creator ? { id: creator.id, name: creator.name } : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function nameTaken() {
  return conflict('view_name_taken', 'This page already has a view with this name. Choose another name.')
}
