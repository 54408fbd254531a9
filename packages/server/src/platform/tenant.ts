import type { Kysely } from 'kysely'
import type { ClickHouse } from './clickhouse/connect.ts'
import { type TenantEvents, tenantEvents } from './clickhouse/tenant-events.ts'
import type { Database, TenantDatabase, TenantTables } from './postgres/database.ts'
import type { DB } from './postgres/generated/tables.ts'
import { onScratch } from './postgres/scratch.ts'
import { TenantPlugin } from './postgres/tenant-plugin.ts'
import type { PostgresLane, ReadTurns } from './read-turns.ts'

/** Both engines, for all tenants. Only the tenant handle and the modules that serve all tenants hold it. */
export interface Stores {
  database: Database
  clickhouse: ClickHouse
  reads: ReadTurns
  /**
   * The barrier before every read of events: resolves when ClickHouse has all events of a tenant that were committed
   * before the call. @throws ServiceError 503 when ClickHouse does not take them.
   */
  barrier(tenantId: string): Promise<void>
}

/**
 * The way to one tenant's data: every function about customers takes it first. It adds the tenant's predicate to every
 * query, in PostgreSQL and in ClickHouse, so that a query that forgets the tenant cannot be written by accident.
 */
export interface Tenant {
  readonly id: string
  readonly db: TenantDatabase
  readonly events: TenantEvents
  /**
   * Runs statements that may read everything the tenant has, such as a search or a page of a file, when it is the
   * tenant's turn: they hold a PostgreSQL connection for long and must not hold all of them. Do not nest. Inside a
   * transaction, which already holds one, it does not wait.
   */
  heavily<T>(work: () => Promise<T>, lane?: PostgresLane): Promise<T>
  /** Begins a file of records. @returns a function that ends it. @throws ServiceError 429 `too_many_exports`. */
  beginExport(): Promise<() => void>
  /** Runs `work` on a connection of its own with room for temporary tables: what is kept there has no tenant. */
  scratch<T>(work: (scratch: Kysely<object>) => Promise<T>): Promise<T>
  /**
   * The journal's table, reachable here so that an event is appended in the transaction that causes it, and the
   * subscriptions to what is appended. Neither is confined to the tenant.
   */
  readonly journal: Kysely<Pick<DB, 'journal' | 'webhook_subscriptions'>>
  /** What platform/jobs queues a job through, so that it exists only if this handle's transaction commits. */
  readonly jobsDatabase: Pick<Kysely<DB>, 'executeQuery'>
  /**
   * Runs `work` in one transaction; everything through the handle it is given commits or rolls back together. Inside a
   * transaction it joins that one, so that a change and what follows from it can be put together.
   */
  transaction<T>(work: (tenant: Tenant) => Promise<T>): Promise<T>
}

/**
 * The handle of one tenant. It is cheap: make one for each request. @param caller aborts when the client disconnects,
 * which cancels its reads; they may be refused when too many wait. Without a caller the handle serves the service's
 * own work.
 */
export function openTenant(stores: Stores, tenantId: string, caller?: AbortSignal): Tenant {
  const db = (stores.database as unknown as Kysely<TenantTables>).withPlugin(new TenantPlugin(tenantId))
  const { isTransaction } = stores.database
  const tenant: Tenant = {
    id: tenantId,
    db,
    events: tenantEvents(stores, tenantId, { caller, isUrgent: isTransaction }),
    heavily: async (work, lane = 'postgres') => {
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
    journal: stores.database as unknown as Tenant['journal'],
    jobsDatabase: stores.database,
    transaction: (work) =>
      isTransaction
        ? work(tenant)
        : stores.database
            .transaction()
            .execute((transaction) => work(openTenant({ ...stores, database: transaction }, tenantId, caller))),
  }
  return tenant
}
