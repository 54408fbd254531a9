import type { Sql } from '../conditions/event-property.ts'
import { isInSet } from '../platform/clickhouse/contact-sets.ts'
import type { Tenant } from '../platform/tenant.ts'
import { companyWhere } from '../segments/company-list-filter.ts'
import { compileEventFilter } from '../segments/event-filter.ts'
import { copyPeople } from '../segments/events.ts'
import { contactWhere } from '../segments/list-filter.ts'
import type { Aggregation } from './requests.ts'

interface WhereContext {
  tenant: Tenant
  now: Date
  /** How many contacts an event condition may match. */
  contactsMax: number
  requireScope(scope: 'contacts:read' | 'events:read'): void
  /** Whether personal values are hidden from the caller. */
  visibleOnly: boolean
}

/**
 * An aggregation of the records that meet the conditions in `where`, besides the filters, and of the events of `people`.
 * @throws ServiceError 400 naming every invalid field, or if too many contacts meet a condition on events; 403.
 */
export async function restricted(
  aggregation: Aggregation,
  { where, people }: { where?: unknown; people?: unknown },
  context: WhereContext,
): Promise<Aggregation> {
  const { tenant } = context
  if (aggregation.entity === 'events') {
    const conditions: Sql[] = []
    if (where !== undefined) conditions.push(await compileEventFilter(tenant, { where }, context))
    if (people !== undefined) {
      const set = await copyPeople(tenant, people, context)
      conditions.push({ sql: isInSet('people'), parameters: { people: set } })
    }
    if (conditions.length === 0) return aggregation
    const all = {
      sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
      parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)),
    }
    return { ...aggregation, filters: { ...aggregation.filters, where: all } }
  }
  if (where === undefined) return aggregation
  switch (aggregation.entity) {
    case 'contacts': {
      const conditions = [await contactWhere(tenant, where, context)]
      return { ...aggregation, filters: { ...aggregation.filters, conditions } }
    }
    case 'companies': {
      const condition = await companyWhere(tenant, where, context)
      return { ...aggregation, filters: { ...aggregation.filters, condition } }
    }
  }
}
