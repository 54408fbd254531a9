import { offsetOf, type Page } from '../http/pagination.ts'

/** A list sorted by a nullable column. */
interface Sorted<Row> {
  /** Rows with a value, sorted. */
  present(limit: number, offset: number): Promise<Row[]>
  /** Rows without one, sorted. */
  missing(limit: number, offset: number): Promise<Row[]>
  countPresent(): Promise<number>
}

/**
 * One page, with rows without a value last. Read in two steps, because an index can be read in both directions but has
 * missing values at one end.
 */
export async function missingLast<Row>(page: Page, { present, missing, countPresent }: Sorted<Row>): Promise<Row[]> {
  const offset = offsetOf(page)
  const rows = await present(page.limit, offset)
  if (rows.length === page.limit) return rows
  const before = rows.length > 0 || offset === 0 ? offset + rows.length : await countPresent()
  return [...rows, ...(await missing(page.limit - rows.length, Math.max(0, offset - before)))]
}
