import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { nameDays } from '../conditions/bounds.ts'
import { eventsOf, type SegmentFilter, usesTime } from '../conditions/language.ts'
import { deleteCounters, memberCountOf } from '../memberships/memberships.ts'
import { namesIn } from '../operations/audit.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { notFound, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { isUuid, newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import { RELEASED, releasedFor } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseCompanyFilter } from './company-filters.ts'
import { parseContactFilter } from './contact-filters.ts'
import { lockDefinitions } from './definitions.ts'
import { noteUnusedConditions } from './met-conditions.ts'
import {
  dependentsOf,
  type Entity,
  type Filters,
  readFilters,
  requireNamed,
  requireUnnamed,
  withSegments,
} from './named-segments.ts'
import { toSegmentObject } from './segment-object.ts'

const NEXT_REVISION = sql<number>`nextval('segment_revisions')`
const SEGMENTS_MAX = 500
const DESCRIPTION_LENGTH_MAX = 2_000
/** Reads see every event that has been in the journal for a second. */
const EVENTS_READABLE_AFTER_SECONDS = 2

/** How the filter of a segment is read from a request. */
export const PARSE_FILTER = { contacts: parseContactFilter, companies: parseCompanyFilter } as const

export interface NewSegment {
  name: string
  description: string | null
  /** What its members are; contacts by default. It never changes. */
  entity?: Entity
  /** As sent by the caller. */
  filter: unknown
  /** Whether personal values are hidden from the caller. */
  visibleOnly?: boolean
}

/**
 * Creates a segment. The running service finds its members within a second or two.
 * @throws ServiceError 400 naming every invalid field, or the segment that is unknown or leads back; 409 `too_many_segments`.
 */
export async function createSegment(
  tenant: Tenant,
  { name, description, entity = 'contacts', filter: sent, visibleOnly = false }: NewSegment,
  now: Date,
): Promise<{ segmentId: string; usesEvents: boolean }> {
  const texts = { name: requireName(name), description: checkedDescription(description) }
  const filter = PARSE_FILTER[entity](sent, { visibleOnly })
  const segmentId = newId()
  await tenant.transaction(async (tx) => {
    const all = tx.db.selectFrom('segments').select(({ fn }) => fn.countAll<number>().as('count'))
    const message = `A tenant can have at most ${SEGMENTS_MAX} segments. Delete an unused one.`
    // Acquires the same lock as `lockDefinitions`.
    await requireFewer(tx, 'segments', SEGMENTS_MAX, () => all.executeTakeFirstOrThrow(), message)
    const filters = await readFilters(tx)
    requireNamed(filter, filters, { entity, segmentId })
    await tx.db
      .insertInto('segments')
      .values({
        segment_id: segmentId,
        entity,
        ...texts,
        ...columnsOf(filter, filters),
        created_at: now,
        updated_at: now,
      })
      .execute()
  })
  return { segmentId, usesEvents: eventsOf(filter).length > 0 }
}

/**
 * Changes a segment's name, description or filter; undefined fields are unchanged. After a change of the filter, the
 * running service re-evaluates the members without recording events.
 * @returns the names of the changed fields.
 * @throws ServiceError 404, 400 naming every invalid field.
 */
export async function updateSegment(
  tenant: Tenant,
  segmentId: string,
  { name, description, filter: sent }: Partial<Omit<NewSegment, 'entity'>>,
  now: Date,
): Promise<string[]> {
  const entity = await entityOf(tenant, segmentId)
  const wanted = {
    ...(name === undefined ? {} : { name: requireName(name) }),
    ...(description === undefined ? {} : { description: checkedDescription(description) }),
    ...(sent === undefined ? {} : { filter: PARSE_FILTER[entity](sent) }),
  }
  return tenant.transaction(async (tx) => {
    await lockDefinitions(tx)
    const before = await tx.db
      .selectFrom('segments')
      .select(['name', 'description', 'filter'])
      .where('segment_id', '=', segmentId)
      .executeTakeFirst()
    if (!before) throw notFound('segment')
    const { filter, ...texts } = wanted
    const isOtherFilter = filter !== undefined && !isDeepStrictEqual(filter, before.filter)
    const changed = (['name', 'description'] as const).filter((key) => key in texts && texts[key] !== before[key])
    if (changed.length === 0 && !isOtherFilter) return []
    const filters: Filters = isOtherFilter ? await readFilters(tx) : new Map()
    if (isOtherFilter) requireNamed(filter, filters, { entity, segmentId })
    await tx.db
      .updateTable('segments')
      .set({
        ...texts,
        ...(isOtherFilter ? { ...columnsOf(filter, filters), ...RELEASED, evaluated_at: null } : {}),
        revision: NEXT_REVISION,
        updated_at: now,
      })
      .where('segment_id', '=', segmentId)
      .execute()
    if (isOtherFilter) {
      await redefineDependents(tx, segmentId, new Map([...filters, [segmentId, { filter, entity }]]))
      await noteUnusedConditions(tx, before.filter as unknown as SegmentFilter)
    }
    return [...changed, ...(isOtherFilter ? ['filter'] : [])]
  })
}

/** Deletes a segment without recording exits. @throws ServiceError 404, 409 `segment_in_use`. */
export async function deleteSegment(tenant: Tenant, segmentId: string): Promise<void> {
  await tenant.transaction(async (tx) => {
    await lockDefinitions(tx)
    await requireUnnamed(tx, segmentId)
    const segment = await tx.db
      .deleteFrom('segments')
      .where('segment_id', '=', segmentId)
      .returning('filter')
      .executeTakeFirst()
    if (!segment) throw notFound('segment')
    await deleteCounters(tx, segmentId)
    await noteUnusedConditions(tx, segment.filter as unknown as SegmentFilter)
  })
}

/** Re-evaluates the segments whose filters name days, once the tenant's time zone has changed: a day is another one. */
export async function reevaluateDays(tx: Tenant): Promise<void> {
  const filters = await readFilters(tx)
  for (const [segmentId, { filter }] of filters) {
    if (!nameDays(withSegments(filter, filters))) continue
    await tx.db
      .updateTable('segments')
      .set({ ...RELEASED, evaluated_at: null, revision: NEXT_REVISION })
      .where('segment_id', '=', segmentId)
      .execute()
  }
}

/** Re-evaluates every segment of a tenant without events, after contacts were loaded in bulk. */
export async function reevaluateSegments(tenant: Tenant): Promise<void> {
  await tenant.db
    .updateTable('segments')
    // Delayed until the loaded events can be read. A new revision discards an evaluation in progress.
    .set({ ...releasedFor(EVENTS_READABLE_AFTER_SECONDS), evaluated_at: null, revision: NEXT_REVISION })
    .execute()
}

/** One page of the segments, newest first. */
export async function listSegments(tenant: Tenant, page: Page) {
  const rows = await selectSegments(tenant)
    .orderBy('created_at', 'desc')
    .orderBy('segment_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  return rows.map(toSegmentObject)
}

export async function countSegments(tenant: Tenant): Promise<number> {
  const row = await tenant.db
    .selectFrom('segments')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** @throws ServiceError 404. */
export async function readSegment(tenant: Tenant, segmentId: string) {
  return (await readSegmentSoFar(tenant, segmentId)).segment
}

/** A segment with the number of members found so far, even while they are being counted. @throws ServiceError 404. */
export async function readSegmentSoFar(tenant: Tenant, segmentId: string) {
  const row = await selectSegments(tenant).where('segment_id', '=', segmentId).executeTakeFirst()
  if (!row) throw notFound('segment')
  return { segment: toSegmentObject(row), found: Number(row.member_count) }
}

/** What other features need of a segment; undefined for an unknown or malformed id, and if it has other members. */
export async function findSegment({ db }: Tenant, segmentId: string, entity: Entity = 'contacts') {
  if (!isUuid(segmentId)) return undefined
  const query = db.selectFrom('segments').select(['segment_id', 'filter', 'evaluated_at'])
  return query.where('segment_id', '=', segmentId).where('entity', '=', entity).executeTakeFirst()
}

/** What a segment's members are. @throws ServiceError 404. */
export async function entityOf({ db }: Tenant, segmentId: string): Promise<Entity> {
  const query = db.selectFrom('segments').select('entity').where('segment_id', '=', segmentId)
  const row = await query.executeTakeFirst()
  if (!row) throw notFound('segment')
  return row.entity as Entity
}

/** The names of segments, for the audit log. */
export function namesOfSegments({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('segments').select(['segment_id as id', 'name']).where('segment_id', 'in', ids))
}

/** The names of segments and when they were created. */
export async function knownSegments({ db }: Tenant, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, { name: string; createdAt: Date }>()
  const rows = await db
    .selectFrom('segments')
    .select(['segment_id', 'name', 'created_at'])
    .where('segment_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ segment_id, name, created_at }) => [segment_id, { name, createdAt: created_at }]))
}

function selectSegments(tenant: Tenant) {
  return tenant.db
    .selectFrom('segments')
    .select(['segment_id', 'entity', 'name', 'description', 'filter', 'evaluated_at', 'created_at'])
    .select(memberCountOf(sql.ref('segments.segment_id')))
}

/** The segments that name another one have other members, and may depend on other things, once that one changes. */
async function redefineDependents(tx: Tenant, segmentId: string, filters: Filters): Promise<void> {
  for (const dependent of dependentsOf(segmentId, filters)) {
    const { filter } = filters.get(dependent) ?? {}
    if (!filter) continue
    const { filter: _, ...columns } = columnsOf(filter, filters)
    await tx.db
      .updateTable('segments')
      .set({ ...columns, ...RELEASED, evaluated_at: null, revision: NEXT_REVISION })
      .where('segment_id', '=', dependent)
      .execute()
  }
}

function columnsOf(filter: SegmentFilter, filters: Filters) {
  const whole = withSegments(filter, filters)
  return {
    filter: JSON.stringify(filter),
    uses_events: eventsOf(whole).length > 0,
    uses_time: usesTime(whole),
  }
}

function checkedDescription(text: string | null): string | null {
  if (text === null || (!hasMoreCharacters(text, DESCRIPTION_LENGTH_MAX) && isStorableText(text))) return text
  const message = `must be a string of at most ${DESCRIPTION_LENGTH_MAX} characters`
  throw validationError([{ path: 'description', message }])
}
