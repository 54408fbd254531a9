import type { SegmentFilter } from '../api/types.ts'

/** Reads the filter in a URL, so that a broken link still opens. @returns its JSON. */
export function filterParam(value: string): string | undefined {
  return value.length <= FILTER_LENGTH_MAX && parseFilter(value) ? value : undefined
}

/** Filters that fit into a URL. */
const FILTER_LENGTH_MAX = 6_000

/** The filter of a URL; the service checks its conditions. */
export function parseFilter(text: string | undefined): SegmentFilter | undefined {
  if (text === undefined) return undefined
  try {
    const filter = JSON.parse(text) as Partial<SegmentFilter> | null
    const isFilter = (filter?.match === 'all' || filter?.match === 'any') && Array.isArray(filter.conditions)
    return isFilter && filter.conditions?.every(isCondition) ? (filter as SegmentFilter) : undefined
  } catch {
    return undefined
  }
}

function isCondition(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('conditions' in value) return Array.isArray(value.conditions) && value.conditions.every(isCondition)
  if ('event' in value) return typeof value.event === 'object' && value.event !== null
  return 'property' in value && typeof value.property === 'string'
}

/** For a URL; nothing without conditions. */
export function filterText(filter: SegmentFilter): string | undefined {
  return filter.conditions.length === 0 ? undefined : JSON.stringify(filter)
}
