import { sql } from 'kysely'
import { ServiceError } from './errors.ts'

/*
 * Nobody works on the data of a closed tenant. Its work stops as it does when its process dies, which all work survives:
 * `openTenant` refuses it, and so does every statement of a handle that is already open. What looks for work of all tenants
 * skips the closed ones. When a tenant is reopened, the work continues.
 */

interface Knowing {
  /** The tenants that are closed, as far as this process has been notified. */
  closed: ReadonlySet<string>
}

/** Stores whose handles also open closed tenants: for their owners, who reopen, export or delete them. */
export function evenIfClosed<Known extends Knowing>(stores: Known): Known {
  return { ...stores, closed: NONE }
}
const NONE: ReadonlySet<string> = new Set()

/** @throws ServiceError 403 `tenant_closed` */
export function requireOpen({ closed }: Knowing, tenantId: string): void {
  if (!closed.has(tenantId)) return
  const message =
    'This workspace is closed and will be deleted. One of its owners can sign in to the dashboard and reopen it until then.'
  throw new ServiceError(403, 'tenant_closed', message)
}

/** A condition of a query for all tenants, with the column that has the tenant's id: skips those that are closed. */
export function isOfOpenTenant({ closed }: Knowing, column = 'tenant_id') {
  return sql<boolean>`${sql.ref(column)} <> ALL(${[...closed]}::uuid[])`
}
