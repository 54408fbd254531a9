import { createConcurrencyLimit } from '../concurrency-limit.ts'
import { ServiceError } from '../errors.ts'
import type { Tenant } from '../tenant.ts'

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
export const UNIQUE_VIOLATION = '23505'
/** Each attempt sees the transaction that the last one collided with, so only new ones can collide again. */
const ATTEMPTS_MAX = 30

/** Thrown by a transaction when a concurrent one was faster. */
export class Collision extends Error {
  readonly code = SERIALIZATION_FAILURE
}

/**
 * Runs a tenant's change in one transaction, and repeats it from the beginning if it collides with a concurrent one.
 * Inside a transaction it joins that one, which is then repeated as a whole.
 */
export function changeTogether<T>(
  tenant: Tenant,
  work: (tx: Tenant) => Promise<T>,
  attempts = ATTEMPTS_MAX,
): Promise<T> {
  // It cannot be repeated here: an error has ended the transaction.
  if (tenant.isTransaction) return work(tenant)
  return repeatOnCollision(() => tenant.transaction(work), attempts)
}

/**
 * Changes of one tenant's contacts and companies often wait for locks on the same rows. They queue here instead, where they
 * occupy no connection.
 */
const { runWithinLimit } = createConcurrencyLimit({ perKey: 4, inAll: 12 })

/**
 * `changeTogether` for contacts, companies and other data, which many requests change at once. Settings do not queue behind
 * them: a flood of contacts must not delay the revocation of the key that sends it.
 */
export function changeRecords<T>(
  tenant: Tenant,
  work: (tx: Tenant) => Promise<T>,
  attempts = ATTEMPTS_MAX,
): Promise<T> {
  // A transaction must not queue: it has locks, for which those before it may wait.
  if (tenant.isTransaction) return work(tenant)
  return runWithinLimit(tenant.id, () => changeTogether(tenant, work, attempts))
}

/**
 * Runs a transaction, and repeats it from the beginning if it collides with a concurrent one.
 * @throws ServiceError 503 `overloaded` if every attempt collides.
 */
async function repeatOnCollision<T>(transaction: () => Promise<T>, attempts: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      const { code = '' } = error as { code?: string }
      const wasOvertaken = [SERIALIZATION_FAILURE, DEADLOCK].includes(code)
      if (!wasOvertaken && code !== UNIQUE_VIOLATION) throw error
      if (attempt < attempts) continue
      throw wasOvertaken ? overloaded(error) : error
    }
  }
}

function overloaded(cause: unknown): ServiceError {
  const message = 'Too many requests are changing the same records. Nothing was written. Try again shortly.'
  return new ServiceError(503, 'overloaded', message, { cause, retryAfterSeconds: 1 })
}
