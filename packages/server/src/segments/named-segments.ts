import { SEGMENT, type SegmentFilter, segmentsIn } from '../conditions/language.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/*
 * Filters that name other segments.
 */

/** What a segment's members are. */
export type Entity = 'contacts' | 'companies'

/** The filters of a tenant's segments, by id. */
export type Filters = ReadonlyMap<string, { filter: SegmentFilter; entity: Entity }>

export async function readFilters(tx: Tenant): Promise<Filters> {
  const rows = await tx.db.selectFrom('segments').select(['segment_id', 'filter', 'entity']).execute()
  return filtersOf(rows)
}

export function filtersOf(rows: readonly { segment_id: string; filter: unknown; entity: string }[]): Filters {
  return new Map(
    rows.map(({ segment_id, filter, entity }) => [
      segment_id,
      { filter: filter as SegmentFilter, entity: entity as Entity },
    ]),
  )
}

/**
 * A filter in which the segments that it names are replaced by their own filters, so that a membership never waits for
 * another one.
 * @param filters of a segment that is gone: nobody is its member.
 */
export function withSegments(filter: SegmentFilter, filters: Filters): SegmentFilter {
  const conditions = filter.conditions.map((condition) => {
    if ('conditions' in condition) return withSegments(condition, filters)
    if ('not' in condition) return { not: withSegments(condition.not, filters) }
    if (!('property' in condition) || condition.property !== SEGMENT) return condition
    const ids = [condition.value ?? []].flat().map(String)
    const named = ids.flatMap((id) => filters.get(id.toLowerCase())?.filter ?? [])
    const isIn: SegmentFilter = { match: 'any', conditions: named.map((each) => withSegments(each, filters)) }
    return condition.operator === 'in' ? isIn : { not: isIn }
  })
  return { ...filter, conditions }
}

/**
 * Refuses a filter that names a segment which does not exist or has other members, or that leads back to its own segment.
 * @throws ServiceError 400 `unknown_segment`, `segment_circle`.
 */
export function requireNamed(
  filter: SegmentFilter,
  filters: Filters,
  { entity, segmentId }: { entity: Entity; segmentId?: string },
): void {
  const reached = new Set<string>()
  for (const open = segmentsIn(filter).map(lowered); open.length > 0; ) {
    const id = open.pop() ?? ''
    if (id === segmentId)
      throw refused('segment_circle', 'leads back to this segment: a segment cannot depend on itself')
    if (reached.has(id)) continue
    reached.add(id)
    const named = filters.get(id)
    if (!named)
      throw refused('unknown_segment', `names a segment that does not exist: ${id}. GET /v1/segments lists yours`)
    if (named.entity !== entity)
      throw refused('unknown_segment', `names a segment of ${named.entity}: ${id}. It needs one of ${entity}`)
    open.push(...segmentsIn(named.filter).map(lowered))
  }
}

function refused(code: 'segment_circle' | 'unknown_segment', problem: string): ServiceError {
  return new ServiceError(400, code, `The filter ${problem}.`, { details: [{ path: 'filter', message: problem }] })
}

/** The segments that depend on one, also through others. */
export function dependentsOf(segmentId: string, filters: Filters): string[] {
  const found = new Set<string>()
  for (const open = [segmentId]; open.length > 0; ) {
    const id = open.pop()
    for (const [other, { filter }] of filters) {
      if (found.has(other) || !segmentsIn(filter).some((named) => lowered(named) === id)) continue
      found.add(other)
      open.push(other)
    }
  }
  return [...found]
}

/**
 * The same for a filter that is not a segment's.
 * @throws ServiceError 400 `unknown_segment`.
 */
export async function requireKnownSegments(tenant: Tenant, filter: SegmentFilter, entity: Entity = 'contacts') {
  if (segmentsIn(filter).length > 0) requireNamed(filter, await readFilters(tenant), { entity })
}

/** Refuses to delete a segment that others name. @throws ServiceError 409 `segment_in_use`. */
export async function requireUnnamed(tx: Tenant, segmentId: string): Promise<void> {
  const [user] = dependentsOf(segmentId, await readFilters(tx))
  if (user === undefined) return
  const row = await tx.db.selectFrom('segments').select('name').where('segment_id', '=', user).executeTakeFirst()
  const message = `The segment “${row?.name ?? user}” uses this one in its filter. Change that filter first.`
  throw conflict('segment_in_use', message)
}

function lowered(id: string): string {
  return id.toLowerCase()
}
