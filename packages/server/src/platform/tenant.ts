import type { Kysely } from 'kysely'
import type { ClickHouse } from './clickhouse/connect.ts'
import { type TenantEvents, tenantEvents } from './clickhouse/tenant-events.ts'
import { requireOpen } from './closed-tenants.ts'
import type { Database, TenantDatabase, TenantTables } from './postgres/database.ts'
import type { DB } from './postgres/generated/tables.ts'
import { onScratch } from './postgres/scratch.ts'
import { TenantPlugin } from './postgres/tenant-plugin.ts'
import type { PostgresLane, ReadLanes } from './read-lanes.ts'

/** Both databases, for all tenants. Only the tenant handle and modules that serve all tenants use it. */
export interface Stores {
  database: Database
  clickhouse: ClickHouse
  reads: ReadLanes
  /**
   * The barrier before every read of events: resolves once ClickHouse has all events of a tenant that were committed
   * before the call. @throws ServiceError 503 if ClickHouse does not accept them.
   */
  barrier(tenantId: string): Promise<void>
  /** The tenants that are closed, as far as this process has been notified. */
  closed: ReadonlySet<string>
}

/**
 * Access to one tenant's data: the first parameter of every function about customers. It adds the tenant's predicate to
 * every query, in PostgreSQL and in ClickHouse, so that no query can forget the tenant by accident.
 */
export interface Tenant {
  readonly id: string
  /** Whether this is the handle of a transaction. */
  readonly isTransaction: boolean
  readonly db: TenantDatabase
  readonly events: TenantEvents
  /**
   * Queues statements that may read all of the tenant's data, such as a search or a page of a file, in a lane of
   * PostgreSQL: they take long and must not occupy all connections. Do not nest. Inside a transaction, which already has
   * one, it does not wait.
   */
  heavyRead<T>(work: () => Promise<T>, lane?: PostgresLane): Promise<T>
  /** Starts a file of records. @returns a function that ends it. @throws ServiceError 429 `too_many_exports`. */
  beginExport(): Promise<() => void>
  /** Runs `work` on a dedicated connection for temporary tables, which are not restricted to the tenant. */
  scratch<T>(work: (scratch: Kysely<object>) => Promise<T>): Promise<T>
  /**
   * The same connection without the predicate, for statements that also run for all tenants at once, and for the
   * tenants' own rows: callers name the tenant. scripts/house lists the modules that may use it.
   */
  readonly unrestricted: Database
  /**
   * The connection with which platform/jobs queues a job, so that it exists only if this handle's transaction commits.
   */
  readonly jobsDatabase: Pick<Kysely<DB>, 'executeQuery'>
  /**
   * Runs `work` in one transaction; everything through the handle it is given commits or rolls back together. Inside a
   * transaction it joins that one, so that a change and its effects commit together.
   */
  transaction<T>(work: (tenant: Tenant) => Promise<T>): Promise<T>
  /** Runs `work`, which must not throw, once the outermost `transaction` has committed; outside of one, at once. */
  afterCommit(work: () => void): void
}

/**
 * The handle of one tenant. It is cheap: create one for each request. @param caller aborts when the client disconnects,
 * which cancels its reads; they may be rejected if too many are waiting. Without a caller, the handle is for background
 * work.
 * @throws ServiceError 403 `tenant_closed`, here or in a later statement, unless the stores are `evenIfClosed`.
 */
export function openTenant(
  stores: Stores,
  tenantId: string,
  caller?: AbortSignal,
  afterCommit: Tenant['afterCommit'] = (work) => work(),
): Tenant {
  const requireTenant = () => requireOpen(stores, tenantId)
  requireTenant()
  const plugin = new TenantPlugin(tenantId, requireTenant)
  const db = (stores.database as unknown as Kysely<TenantTables>).withPlugin(plugin)
  const { isTransaction } = stores.database
  const tenant: Tenant = {
    id: tenantId,
    isTransaction,
    db,
    events: tenantEvents(stores, tenantId, { caller, isUrgent: isTransaction }),
    heavyRead: async (work, lane = 'postgres') => {
      if (isTransaction) return work()
      const { end } = await stores.reads.enter(lane, tenantId, { caller })
      try {
        return await work()
      } finally {
        end()
      }
    },
    beginExport: () => stores.reads.beginExport(tenantId, caller),
    scratch: (work) => onScratch(stores.database as unknown as Kysely<object>, work),
    unrestricted: stores.database,
    jobsDatabase: stores.database,
    transaction: async (work) => {
      if (isTransaction) return work(tenant)
      const following: (() => void)[] = []
      const later = (next: () => void) => void following.push(next)
      const result = await stores.database
        .transaction()
        .execute((transaction) => work(openTenant({ ...stores, database: transaction }, tenantId, caller, later)))
      for (const next of following) next()
      return result
    },
    afterCommit,
  }
  return tenant
}
