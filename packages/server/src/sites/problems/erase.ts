import type { Tenant } from '../../platform/tenant.ts'

/** Deletes all of the tenant's problems: they last an hour, and a body that was cut off hides whose it is. */
export async function eraseProblems(tx: Tenant) {
  const deleted = await tx.db.deleteFrom('request_problems').executeTakeFirst()
  return { request_problems: Number(deleted.numDeletedRows) }
}
