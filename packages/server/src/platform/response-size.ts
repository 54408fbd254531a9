import { AsyncLocalStorage } from 'node:async_hooks'
import { ServiceError } from './errors.ts'

/** The largest JSON response. Larger lists return `response_too_large`. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
/**
 * The most that one query of a request may load: more than a response, which may include only some fields of each
 * record. Rows beyond it are dropped, because the request fails anyway.
 */
export const LOADED_BYTES_MAX = 64 * 1024 * 1024

const CODE = 'response_too_large'

/** The approximate size of a page of a file. */
const PAGE_BYTES = 8 * 1024 * 1024
const FIRST_PAGE_ROWS = 250
const GROWTH_MAX = 4

const bounded = new AsyncLocalStorage<{ loadedBytes: number }>()

/**
 * Runs work whose queries may load LOADED_BYTES_MAX each, and fail with `response_too_large` beyond it: requests, and
 * paged reads. Background work is not limited.
 */
export function boundLoading<T>(work: () => T): T {
  return bounded.run({ loadedBytes: 0 }, work)
}

export function isLoadingBound(): boolean {
  return bounded.getStore() !== undefined
}

/** Counts what a query has loaded. */
export function noteLoaded(bytes: number): void {
  const work = bounded.getStore()
  if (work) work.loadedBytes += bytes
}

/**
 * Reads rows of unknown sizes, page by page, so that memory use does not depend on their number. The size of the next
 * page is estimated from the last one; a page that is still too large is read again with fewer rows.
 * @param readPage reads up to `limit` rows after the last one of the page before.
 */
export async function* pagesOf<Row>(
  rowsMax: number,
  readPage: (limit: number, after: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let limit = Math.min(rowsMax, FIRST_PAGE_ROWS)
  for (let after: Row | undefined; ; ) {
    const asked = limit
    const last = after
    const work = { loadedBytes: 0 }
    try {
      const rows = await bounded.run(work, () => readPage(asked, last))
      const fitting = Math.ceil((asked * PAGE_BYTES) / Math.max(work.loadedBytes, 1))
      limit = Math.min(rowsMax, asked * GROWTH_MAX, fitting)
      if (rows.length > 0) yield rows
      if (rows.length < asked) return
      after = rows.at(-1)
    } catch (error) {
      if (!isResponseTooLarge(error) || asked === 1) throw error
      limit = Math.ceil(asked / GROWTH_MAX)
    }
  }
}

/** The JSON of a response. @throws ServiceError 400 `response_too_large`. */
export function toResponseBody(payload: unknown): string {
  let json: string
  try {
    json = JSON.stringify(payload)
  } catch (cause) {
    // The result exceeds the maximum string length.
    if (cause instanceof RangeError) throw responseTooLarge(cause)
    throw cause
  }
  // A code unit is at most three bytes, so most responses need no exact count.
  if (json.length * 3 > RESPONSE_BYTES_MAX && Buffer.byteLength(json) > RESPONSE_BYTES_MAX) throw responseTooLarge()
  return json
}

/** The first items of a list whose JSON fits into a number of bytes. */
export function itemsWithin<Item>(items: readonly Item[], bytesMax: number): Item[] {
  let bytes = 0
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1
    return bytes > bytesMax
  })
  return end < 0 ? [...items] : items.slice(0, end)
}

/** Whether an error means that a response would be too large. */
export function isResponseTooLarge(error: unknown): boolean {
  return error instanceof ServiceError && error.code === CODE
}

/** 400: like a query that is too expensive, the caller can fix it by requesting less. */
export function responseTooLarge(cause?: unknown): ServiceError {
  const message =
    'The response would be larger than 16 MiB. Request less at once: a smaller limit, fewer ids, or fewer fields (fields=summary).'
  return new ServiceError(400, CODE, message, { cause })
}
