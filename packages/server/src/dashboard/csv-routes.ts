import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { companyPages } from '../companies/pages.ts'
import { ListCompaniesQuery } from '../companies/requests.ts'
import type { Config } from '../config.ts'
import { propertiesOf } from '../contacts/contact-row.ts'
import { asksEvents, contactFiltersOf, eventFiltersOf } from '../contacts/list-filters.ts'
import { contactPages } from '../contacts/pages.ts'
import { ListContactsQuery } from '../contacts/requests.ts'
import { joinContacts } from '../events/join.ts'
import { eventPages } from '../events/pages.ts'
import { ListEventsQuery } from '../events/requests.ts'
import type { App } from '../platform/http/app-types.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { requireScopeOf } from '../tenants/authentication.ts'
import { columnsOf, sendCsv } from './csv.ts'

const columns = filterText('The columns, with commas between: fields and keys of properties or data.', 8_000)
const response = { 200: { type: 'string', description: 'text/csv' } }

const CONTACT_USUAL = [
  'contact_id',
  'email',
  'firstname',
  'lastname',
  'company',
  'jobtitle',
  'lifecyclestage',
  'lead_status',
  'country',
  'city',
  'creation_source',
  'created_at',
]
const COMPANY_USUAL = [
  'company_id',
  'name',
  'domain',
  'industry',
  'country',
  'state',
  'numberofemployees',
  'created_at',
]
const EVENT_USUAL = ['timestamp', 'event', 'url', 'contact_email', 'visitor_id', 'browser', 'os', 'device_type', 'data']

export interface CsvDependencies {
  clock: Clock
  config: Pick<Config, 'eventFilterContactsMax'>
}

/** Lists as files: the filters of the lists, every record that matches. */
export function csvRoutes(app: App, { clock, config }: CsvDependencies): void {
  const fileName = (what: string) => `${what}-${clock().toISOString().slice(0, 10)}.csv`

  app.get(
    '/api/contacts/export.csv',
    {
      config: { access: 'contacts:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListContactsQuery.properties, columns }), response },
      preValidation: async (request) => {
        if (asksEvents(request.query)) requireScopeOf(request, 'events:read')
      },
    },
    async ({ tenant, query }, reply) => {
      const filters = await contactFiltersOf(tenant, query, eventFiltersOf(query), config.eventFilterContactsMax)
      const names = columnsOf(query.columns, CONTACT_USUAL)
      const pages = filters ? contactPages(tenant, filters) : nothing()
      return sendCsv(tenant, reply, fileName('contacts'), names, pages, (row) => {
        const fields: Record<string, unknown> = {
          contact_id: row.contact_id,
          company_id: row.company_id,
          segment_ids: row.segment_ids,
          creation_source: row.creation_source,
          first_seen_at: row.first_seen_at.toISOString(),
          created_at: row.created_at.toISOString(),
          updated_at: row.updated_at.toISOString(),
        }
        const properties: Record<string, unknown> = propertiesOf(row)
        return names.map((name) => own(fields, name) ?? own(properties, name))
      })
    },
  )

  app.get(
    '/api/companies/export.csv',
    {
      config: { access: 'companies:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListCompaniesQuery.properties, columns }), response },
    },
    async ({ tenant, query }, reply) => {
      const { columns: asked, ...filters } = withoutOrder(query)
      const names = columnsOf(asked, COMPANY_USUAL)
      return sendCsv(tenant, reply, fileName('companies'), names, companyPages(tenant, filters), (row) => {
        const fields: Record<string, unknown> = {
          company_id: row.company_id,
          name: row.name,
          domain: row.domain,
          created_at: row.created_at.toISOString(),
          updated_at: row.updated_at.toISOString(),
        }
        const properties = row.properties as Record<string, unknown>
        return names.map((name) => own(fields, name) ?? own(properties, name))
      })
    },
  )

  app.get(
    '/api/events/export.csv',
    {
      config: { access: 'events:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListEventsQuery.properties, columns }), response },
    },
    async ({ tenant, query }, reply): Promise<FastifyReply> => {
      const { columns: asked, include, ...rest } = withoutOrder(query)
      const filters = { ...rest, includeSystem: include?.includes('system') ?? false }
      const names = columnsOf(asked, EVENT_USUAL)
      return sendCsv(
        tenant,
        reply,
        fileName('events'),
        names,
        enriched(tenant, filters),
        ({ contact, company, ...event }) => {
          const fields: Record<string, unknown> = {
            ...event,
            contact_id: event.internal_contact_id,
            contact_email: contact?.email,
            company_name: company?.name,
          }
          return names.map((name) =>
            name.startsWith('data.') ? own(event.data, name.slice('data.'.length)) : own(fields, name),
          )
        },
      )
    },
  )
}

async function* enriched(tenant: Tenant, filters: Parameters<typeof eventPages>[1]) {
  for await (const events of eventPages(tenant, filters)) yield await joinContacts(tenant, events)
}

async function* nothing(): AsyncGenerator<never[]> {}

/** A column named `constructor` is a property like any other, or none. */
function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A file has every record, in an order of its own. */
function withoutOrder<Query extends object>(query: Query) {
  const order = ['page', 'limit', 'sort_by', 'sort_dir', 'count_only', 'fields']
  return Object.fromEntries(Object.entries(query).filter(([name]) => !order.includes(name))) as Omit<
    Query,
    'page' | 'limit' | 'sort_by' | 'sort_dir' | 'count_only' | 'fields'
  >
}
