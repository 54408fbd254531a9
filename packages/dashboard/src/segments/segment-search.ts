import { pageNumber, searchParams } from '../app/search-params.ts'
import { rangeSearch } from '../ui/range.ts'

/** What the address of a segment's page holds: the days of the chart, and the page of its members. */
export const segmentSearch = searchParams({ ...rangeSearch, page: pageNumber })
