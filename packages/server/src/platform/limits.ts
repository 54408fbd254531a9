import { conflict, ServiceError } from './errors.ts'
import { type LimitName, lock } from './postgres/locks.ts'
import type { Tenant } from './tenant.ts'
import { DAY_MS } from './time.ts'

/**
 * Limits how many of something a tenant has: call it in the transaction that adds one. It waits for concurrent
 * additions, then counts.
 * @throws ServiceError 409 `too_many_<name>` if there are `max` already
 */
export async function requireFewer(
  tx: Tenant,
  name: LimitName,
  max: number,
  count: () => Promise<{ count: number }>,
  message: string,
): Promise<void> {
  await lock(tx.db, name, tx.id)
  if ((await count()).count >= max) throw conflict(`too_many_${name}`, message)
}

/**
 * Limits how many of something are added within 24 hours, because each takes room that a caller could fill by repeating.
 * @param added when the latest ones were, newest first; call it while no other request can add one.
 * @throws ServiceError 429 with this code; the caller may try again when the oldest that counts is 24 hours old
 */
export function requireFewerADay(
  added: readonly Date[],
  { max, code, message }: { max: number; code: string; message: string },
  now: Date,
): void {
  const oldest = added[max - 1]
  const waitMs = oldest === undefined ? 0 : oldest.getTime() + DAY_MS - now.getTime()
  if (waitMs <= 0) return
  throw new ServiceError(429, code, message, { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
