import type { Kysely } from 'kysely'
import type { DB } from './generated/tables.ts'

/** Every table as it is; only what serves all tenants at once (journal, key and domain look-ups) may use it. */
export type Database = Kysely<DB>

/** The tables that belong to tenants, without the column that says to which: the tenant handle adds it. */
export type TenantTables = {
  [Table in keyof DB as DB[Table] extends { tenant_id: unknown } ? TenantTableName<Table> : never]: Omit<
    DB[Table],
    'tenant_id'
  >
}

/** `tenants` is a tenant's own row, not a table of its records. */
type TenantTableName<Table> = Table extends 'tenants' ? never : Table

export type TenantDatabase = Kysely<TenantTables>
