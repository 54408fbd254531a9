import { sql } from 'kysely'
import { nextCompanyIds } from '../companies/pages.ts'
import { nextContactIds } from '../contacts/pages.ts'
import { ZERO_ID } from '../platform/ids.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Entity } from './definition.ts'

/*
 * All records get the value of a property that is new or was changed, and lose that of one that was deleted, page by page in the
 * order of their ids. Those that are created meanwhile are checked by themselves.
 */

/** The next page of records, and the properties that are then filled in up to its end. */
export interface Filling {
  ids: readonly string[]
  /** The names of properties that all records lose. */
  removed: readonly string[]
  unfilled: readonly { id: string; revision: string; isDeleted: boolean }[]
  /** Whether no records follow. */
  isLast: boolean
}

/** @param size the most records of a page */
export async function nextPage(tx: Tenant, entity: Entity, size: Record<Entity, number>): Promise<Filling> {
  const rows = await tx.db
    .selectFrom('computed_properties')
    .select(['computed_property_id', 'name', 'revision', 'filled_to', 'deleted_at'])
    .where('entity', '=', entity)
    .where('filled_at', 'is', null)
    .where('fill_after', '<=', sql<Date>`now()`)
    .execute()
  if (rows.length === 0) return { ids: [], removed: [], unfilled: [], isLast: false }
  const [after = ZERO_ID] = rows.map(({ filled_to }) => filled_to ?? ZERO_ID).sort()
  const next = entity === 'contacts' ? nextContactIds : nextCompanyIds
  const ids = await next(tx, {}, after, size[entity])
  return {
    ids,
    removed: rows.flatMap(({ name, deleted_at }) => (deleted_at === null ? [] : name)),
    unfilled: rows.map(({ computed_property_id: id, revision, deleted_at }) => ({
      id,
      revision,
      isDeleted: deleted_at !== null,
    })),
    isLast: ids.length < size[entity],
  }
}

/** The names of properties that are being filled in, each with the last record that has its value; null for none. */
export async function namesBeingFilled(tx: Tenant, entity: Entity): Promise<Map<string, string | null>> {
  const rows = await tx.db
    .selectFrom('computed_properties')
    .select(['name', 'filled_to'])
    .where('entity', '=', entity)
    .where('filled_at', 'is', null)
    .execute()
  return new Map(rows.map(({ name, filled_to }) => [name, filled_to]))
}

/** Notes that the records of a page have their values. A property that was changed meanwhile is filled in again. */
export async function finishPage(tx: Tenant, { ids, unfilled, isLast }: Filling, now: Date): Promise<void> {
  for (const { id, revision, isDeleted } of unfilled) {
    if (isLast && isDeleted) {
      await tx.db
        .deleteFrom('computed_properties')
        .where('computed_property_id', '=', id)
        .where('revision', '=', revision)
        .execute()
      await announceChange(tx.db)
      continue
    }
    const last = ids.at(-1) ?? ZERO_ID
    await tx.db
      .updateTable('computed_properties')
      .set({
        filled_to: sql<string>`greatest(coalesce(filled_to, ${ZERO_ID}::uuid), ${last}::uuid)`,
        ...(isLast ? { filled_at: now } : {}),
      })
      .where('computed_property_id', '=', id)
      .where('revision', '=', revision)
      .execute()
  }
}
