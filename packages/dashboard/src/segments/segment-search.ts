import { pageNumber, searchParams } from '../session/search-params.ts'
import { rangeSearch } from '../ui/range.ts'

/** The search parameters of a segment's page: the days of the chart, and the page of its members. */
export const segmentSearch = searchParams({ ...rangeSearch, page: pageNumber })
