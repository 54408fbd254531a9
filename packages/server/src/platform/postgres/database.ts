import type { Kysely } from 'kysely'
import type { DB } from './generated/tables.ts'

/**
 * Every table without restriction; only code that serves all tenants at once (journal, key and domain look-ups) may use
 * it.
 */
export type Database = Kysely<DB>

/** The tenants' tables without the column tenant_id, which the tenant handle adds. */
export type TenantTables = {
  [Table in keyof DB as DB[Table] extends { tenant_id: unknown } ? TenantTableName<Table> : never]: Omit<
    DB[Table],
    'tenant_id'
  >
}

/** `tenants` contains the tenants themselves, not their records. */
type TenantTableName<Table> = Table extends 'tenants' ? never : Table

export type TenantDatabase = Kysely<TenantTables>
