import { ServiceError } from '../errors.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const UNIQUE_VIOLATION = '23505'
/** Each attempt sees what the last one collided with, so only ever new transactions can be in its way. */
const ATTEMPTS_MAX = 30

/** Thrown by a transaction that was overtaken by a concurrent one. */
export class Collision extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/**
 * Runs a transaction, and again from the beginning when it collides with a concurrent one.
 * @throws ServiceError 503 `overloaded` when it is overtaken every time.
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
  const message = 'Too many requests change the same records at once. Send it again shortly; nothing of it was written.'
  return new ServiceError(503, 'overloaded', message, { cause, headers: { 'retry-after': '1' } })
}
