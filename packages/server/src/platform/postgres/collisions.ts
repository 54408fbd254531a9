import { ServiceError } from '../errors.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const UNIQUE_VIOLATION = '23505'
/** Each attempt sees the transaction that the last one collided with, so only new ones can collide again. */
const ATTEMPTS_MAX = 30

/** Thrown by a transaction when a concurrent one was faster. */
export class Collision extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/**
 * Runs a transaction, and repeats it from the beginning if it collides with a concurrent one.
 * @throws ServiceError 503 `overloaded` if every attempt collides.
 */
export async function repeatOnCollision<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      const wasOvertaken = [SERIALIZATION_FAILURE, DEADLOCK].includes(code)
      if (!wasOvertaken && code !== UNIQUE_VIOLATION) throw error
      if (attempt < ATTEMPTS_MAX) continue
      throw wasOvertaken ? overloaded(error) : error
    }
  }
}

function overloaded(cause: unknown): ServiceError {
  const message = 'Too many requests are changing the same records. Nothing was written. Try again shortly.'
  return new ServiceError(503, 'overloaded', message, { cause, headers: { 'retry-after': '1' } })
}
