import { AsyncLocalStorage } from 'node:async_hooks'
import { ServiceError } from './errors.ts'

/** The largest JSON answer. Lists whose records are longer answer `answer_too_large` until less is asked for. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/**
 * What one query of a request may load: more than an answer, because of a contact only some fields may be shown. Beyond it
 * the answer could not be given, so the rows are not kept.
 */
export const LOADED_BYTES_MAX = 64 * 1024 * 1024

const CODE = 'answer_too_large'

const requests = new AsyncLocalStorage<true>()

/** Runs what serves a request; its queries load at most LOADED_BYTES_MAX each. The service's own work is not limited so. */
export function asRequest(work: () => void): void {
  requests.run(true, work)
}

export function isWithinRequest(): boolean {
  return requests.getStore() === true
}

/** The JSON of an answer. @throws ServiceError 400 `answer_too_large`. */
export function toAnswer(payload: unknown): string {
  let json: string
  try {
    json = JSON.stringify(payload)
  } catch (cause) {
    // More than a string can hold.
    if (cause instanceof RangeError) throw answerTooLarge(cause)
    throw cause
  }
  // A code unit is at most three bytes, so most answers need no exact count.
  if (json.length * 3 > ANSWER_BYTES_MAX && Buffer.byteLength(json) > ANSWER_BYTES_MAX) throw answerTooLarge()
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

/** Whether an error says that an answer would be too large. */
export function isAnswerTooLarge(error: unknown): boolean {
  return error instanceof ServiceError && error.code === CODE
}

/** 400: like a query that is too expensive, it is the caller who can ask for less. */
export function answerTooLarge(cause?: unknown): ServiceError {
  const message =
    'The answer would be larger than 16 MiB. Ask for less at once: a smaller limit, fewer ids, or fewer fields (fields=summary).'
  return new ServiceError(400, CODE, message, { cause })
}
