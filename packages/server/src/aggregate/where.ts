import type { Tenant } from '../platform/tenant.ts'
import { companyWhere } from '../segments/company-list-filter.ts'
import { compileEventFilter } from '../segments/event-filter.ts'
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
 * An aggregation of the records that meet the conditions in `where`, besides the filters.
 * @throws ServiceError 400 naming every invalid field, or if too many contacts meet a condition on events; 403.
 */
export async function restricted(
  aggregation: Aggregation,
  where: unknown,
  context: WhereContext,
): Promise<Aggregation> {
  if (where === undefined) return aggregation
  const { tenant } = context
  switch (aggregation.entity) {
    case 'events': {
      const compiled = await compileEventFilter(tenant, { where }, context)
      return { ...aggregation, filters: { ...aggregation.filters, where: compiled } }
    }
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
