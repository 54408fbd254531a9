import Type from 'typebox'
import { readCompany } from '../companies/list.ts'
import { EnrichedEvent } from '../events/event-object.ts'
import { eventFilterSchemas } from '../events/filters.ts'
import { countEvents, listEvents } from '../events/list.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId, success } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import { VIEWER } from './access.ts'

/** A company with more contacts shows the events of its latest ones: a longer list of ids would slow the search. */
const CONTACTS_MAX = 1_000

/** What the contacts of a company did. */
export function companyEventRoutes(app: App): void {
  app.get(
    '/api/companies/:company_id/events',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        params: Type.Object({ company_id: Type.String() }),
        querystring: Type.Object({ ...pageParameters(20, 100), ...eventFilterSchemas('event_type', 'date_before') }),
        response: { 200: success({ events: Type.Array(EnrichedEvent), pagination: Pagination }) },
      },
    },
    async ({ tenant, params, query }) => {
      const { page = 1, limit = 20, ...rest } = query
      const companyId = pathId(params.company_id, 'company')
      await readCompany(tenant, companyId)
      const filters = { ...rest, contact_ids: await contactsOf(tenant, companyId) }
      const [events, total] = await Promise.all([
        listEvents(tenant, filters, { sortBy: 'timestamp', direction: 'desc' }, { page, limit }),
        countEvents(tenant, filters),
      ])
      return { status: 'success' as const, events, pagination: paginationOf({ page, limit }, total) }
    },
  )
}

async function contactsOf(tenant: Tenant, companyId: string): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', '=', companyId)
    .orderBy('created_at', 'desc')
    .orderBy('contact_id', 'desc')
    .limit(CONTACTS_MAX)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}
