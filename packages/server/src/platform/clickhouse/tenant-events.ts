import type { ClickHouse, QueryParameters } from './connect.ts'

/** A question to the events of one tenant, in the parts of a SELECT; the table and the tenant are added. */
export interface EventSelect {
  /** Appears in logs. */
  name: string
  columns: string
  /** Conditions with `{name: Type}` placeholders, joined with AND. */
  where: readonly string[]
  parameters: QueryParameters
  groupBy?: string
  orderBy?: string
  limit?: number
  offset?: number
}

/** Reads the events of one tenant. There is no way to ask without the tenant's predicate. */
export interface TenantEvents {
  select<Row>(question: EventSelect): Promise<Row[]>
}

/** Confines event queries to one tenant. */
export function tenantEvents(clickhouse: ClickHouse, tenantId: string): TenantEvents {
  return {
    select: <Row>(question: EventSelect) =>
      clickhouse.query<Row>(renderSelect(question), { ...question.parameters, tenant_id: tenantId }),
  }
}

function renderSelect({ name, columns, where, groupBy, orderBy, limit, offset }: EventSelect): string {
  const conditions = ['tenant_id = {tenant_id: UUID}', ...where.map((condition) => `(${condition})`)]
  return [
    `/* ${name} */ SELECT ${columns} FROM events WHERE ${conditions.join(' AND ')}`,
    groupBy ? `GROUP BY ${groupBy}` : '',
    orderBy ? `ORDER BY ${orderBy}` : '',
    limit === undefined ? '' : `LIMIT ${Math.trunc(limit)}`,
    offset ? `OFFSET ${Math.trunc(offset)}` : '',
  ].join(' ')
}
