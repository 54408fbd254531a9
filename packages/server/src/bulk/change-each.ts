import Type from 'typebox'
import type { Context } from '../operations/declare.ts'
import { type ErrorDetail, notFound, ServiceError, validationError } from '../platform/errors.ts'
import { WORDS_MAX, wordsOf } from '../platform/http/query-parameters.ts'
import { Nullable, RecordError } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import { TEXT } from '../platform/personal.ts'

/** Records per call: a call takes about a second, and holds the lock of one record at a time. */
export const RECORDS_MAX = 100

/** Fields of every bulk change. */
export const BULK_FIELDS = {
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'With `matching`: `next` of the previous response.' }),
  ),
  delete: Type.Optional(Type.Literal(true, { description: 'Deletes the records. Instead of `set`.' })),
}

const Failure = Type.Object({ id: Type.String(TEXT), error: RecordError }, { title: 'UnchangedRecord' })

/** The response to every bulk change. */
export const BULK_OUTPUT = {
  done: Type.Integer({ description: 'How many records now are as requested.' }),
  failed: Type.Array(Failure, { description: 'The records that did not change, and why. The others did.' }),
  next: Nullable(
    Type.String({ format: 'uuid', description: 'Send it as `after` to continue; null if no records are left.' }),
  ),
}

export type BulkResponse = Type.Static<Type.TObject<typeof BULK_OUTPUT>>

interface Sent {
  after: string | undefined
  matching?: { search?: string } | undefined
  set: object | undefined
  delete: true | undefined
}

/** Checks that a request names records in one way, and one change. @throws ServiceError 400. */
export function requireOneChange(sent: Sent, ids: readonly string[] | undefined, name: string): void {
  const details: ErrorDetail[] = []
  if ((ids === undefined) === (sent.matching === undefined)) {
    details.push({ path: name, message: 'or matching is required, and not both' })
  }
  if ((sent.set === undefined) === (sent.delete === undefined)) {
    details.push({ path: 'set', message: 'or delete is required, and not both' })
  }
  if (sent.after !== undefined && (sent.matching === undefined || !isUuid(sent.after))) {
    details.push({ path: 'after', message: 'must be `next` of the previous response, beside matching' })
  }
  if (wordsOf(sent.matching?.search).length > WORDS_MAX) {
    details.push({ path: 'matching.search', message: `must be at most ${WORDS_MAX} words` })
  }
  if (details.length > 0) throw validationError(details)
}

interface Each {
  /** With an Idempotency-Key, a retry changes the same records. */
  memory: Context['memory']
  /** The ids of a request; without them, `next` finds the records. */
  ids: readonly string[] | undefined
  next: (limit: number) => Promise<string[]>
  change: (id: string) => Promise<unknown>
  isDeletion: boolean
}

/**
 * Changes records one after another, each in a transaction of its own, like a request for each. One that fails does not
 * affect the others.
 */
export async function changeEach({ memory, ids, next, change, isDeletion }: Each): Promise<BulkResponse> {
  const found = ids ? [...new Set(ids)] : await memory.remember(() => next(RECORDS_MAX))
  const failed: BulkResponse['failed'] = []
  let done = 0
  for (const id of found) {
    try {
      if (!isUuid(id)) throw notFound('record')
      await change(id.toLowerCase())
      done++
    } catch (error) {
      // Other errors are not about this record: the next one would fail as well.
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
      // Found by the filter and deleted since, for example by the first request with this Idempotency-Key.
      if (isDeletion && ids === undefined && error.code === 'not_found') done++
      else failed.push({ id, error: { code: error.code, message: error.message } })
    }
  }
  const isLast = ids !== undefined || found.length < RECORDS_MAX
  return { done, failed, next: isLast ? null : (found.at(-1) ?? null) }
}
