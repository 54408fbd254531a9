import type { ListFilter } from '../contacts/list-filters.ts'
import { importFilter } from '../imports/list-filter.ts'
import { segmentFilter } from '../segments/list-filter.ts'

/** The filters of lists of contacts that belong to other features. */
export const LIST_FILTERS: readonly ListFilter[] = [importFilter, segmentFilter]
