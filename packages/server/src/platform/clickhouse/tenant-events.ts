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
  /** At most so many rows for each value of some columns. */
  limitBy?: { rows: number; columns: string }
  limit?: number
  offset?: number
  /** The engine ends the question after so long, with an error; without it, after the usual limit. */
  secondsMax?: number
  /** A question to the rows of this one, which it calls `found`; only its rows are answered then. */
  outer?: Pick<EventSelect, 'columns' | 'groupBy' | 'orderBy' | 'limitBy' | 'limit'>
}

/** Reads the events of one tenant. There is no way to ask without the tenant's predicate. */
export interface TenantEvents {
  select<Row>(question: EventSelect): Promise<Row[]>
  /** The same, some rows at a time, for answers too long to be held at once. */
  stream<Row>(question: EventSelect): AsyncIterable<Row[]>
}

/** Confines event queries to one tenant. */
export function tenantEvents(clickhouse: ClickHouse, tenantId: string): TenantEvents {
  return {
    select: <Row>(question: EventSelect) =>
      clickhouse.query<Row>(
        renderSelect(question),
        { ...question.parameters, tenant_id: tenantId },
        question.secondsMax,
      ),
    stream: <Row>(question: EventSelect) =>
      clickhouse.stream<Row>(renderSelect(question), { ...question.parameters, tenant_id: tenantId }),
  }
}

/** A part that asks another question, or a comment that hides one, would escape the tenant's predicate. */
const OTHER_QUESTION = /\b(select|from|join|union)\b|\/\*|--/i

function requireParts({ columns, where, groupBy, orderBy, limitBy, outer }: EventSelect): void {
  const parts = [columns, ...where, groupBy, orderBy, limitBy?.columns, outer?.columns, outer?.groupBy, outer?.orderBy]
  if (parts.some((part) => part !== undefined && OTHER_QUESTION.test(part))) {
    throw new Error('A part of an event query must not ask anything of its own.')
  }
}

function renderSelect(question: EventSelect): string {
  requireParts(question)
  const { name, columns, where, groupBy, outer, offset, ...rest } = question
  const conditions = ['tenant_id = {tenant_id: UUID}', ...where.map((condition) => `(${condition})`)]
  const select = [
    `SELECT ${columns} FROM events WHERE ${conditions.join(' AND ')}`,
    renderGroup({ groupBy }),
    renderEnd(rest),
    offset ? `OFFSET ${Math.trunc(offset)}` : '',
  ].join(' ')
  return outer
    ? `/* ${name} */ SELECT ${outer.columns} FROM (${select}) AS found ${renderGroup(outer)} ${renderEnd(outer)}`
    : `/* ${name} */ ${select}`
}

function renderGroup({ groupBy }: { groupBy?: string | undefined }): string {
  return groupBy ? `GROUP BY ${groupBy}` : ''
}

function renderEnd({ orderBy, limitBy, limit }: Pick<EventSelect, 'orderBy' | 'limitBy' | 'limit'>): string {
  return [
    orderBy ? `ORDER BY ${orderBy}` : '',
    limitBy ? `LIMIT ${Math.trunc(limitBy.rows)} BY ${limitBy.columns}` : '',
    limit === undefined ? '' : `LIMIT ${Math.trunc(limit)}`,
  ].join(' ')
}
