import { conflict } from './errors.ts'
import { type LimitName, lock } from './postgres/locks.ts'
import type { Tenant } from './tenant.ts'

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
