const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const UNIQUE_VIOLATION = '23505'
const ATTEMPTS_MAX = 6

/** Thrown by a transaction that was overtaken by a concurrent one. */
export class Collision extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/** Runs a transaction, and again from the beginning when it collides with a concurrent one. */
export async function repeatOnCollision<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      const collided = [SERIALIZATION_FAILURE, DEADLOCK, UNIQUE_VIOLATION].includes(code)
      if (!collided || attempt === ATTEMPTS_MAX) throw error
    }
  }
}
