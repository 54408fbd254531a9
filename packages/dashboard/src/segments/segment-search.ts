import { oneOf, pageNumber, searchParams } from '../session/search-params.ts'
import { rangeSearch } from '../ui/range.ts'

/** The search parameters of a segment's page: the days of the chart, and the table below it with its page. */
export const segmentSearch = searchParams({ ...rangeSearch, page: pageNumber, tab: oneOf('changes') })
