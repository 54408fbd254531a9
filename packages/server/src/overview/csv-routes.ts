import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { CompanyRow } from '../companies/company-object.ts'
import { companyPages } from '../companies/pages.ts'
import { people } from '../companies/people.ts'
import { companyFiltersOf, ListCompaniesQuery } from '../companies/requests.ts'
import type { Config } from '../config.ts'
import type { ContactRowInSegments } from '../contacts/contact-object.ts'
import { propertiesOf } from '../contacts/contact-row.ts'
import { contactFiltersOf, filtersByEvents, type ListFilter } from '../contacts/list-filters.ts'
import { contactPages } from '../contacts/pages.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty, namesOf } from '../contacts/property-catalogue.ts'
import { ListContactsQuery } from '../contacts/requests.ts'
import type { EventWithContact } from '../events/event-object.ts'
import { withCompany } from '../events/filters.ts'
import { eventPages } from '../events/pages.ts'
import { joinContacts } from '../events/people.ts'
import { ListEventsQuery } from '../events/requests.ts'
import { audit } from '../operations/audit.ts'
import { requireScopeOf } from '../operations/scopes.ts'
import type { App } from '../platform/http/app-types.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { type CsvFile, columnsOf, sendCsv } from './csv.ts'

const columns = filterText('A comma-separated list of columns: fields, and keys of properties or data.', 8_000)
const response = { 200: { type: 'string', description: 'text/csv' } }

const isUsual = (property: KnownProperty) => property.isUsual
const CONTACT_USUAL = ['contact_id', ...namesOf(CONTACT_PROPERTIES, isUsual), 'creation_source', 'created_at']
const COMPANY_USUAL = ['company_id', ...namesOf(COMPANY_PROPERTIES, isUsual), 'created_at']
const EVENT_USUAL = ['timestamp', 'event', 'url', 'contact_email', 'visitor_id', 'browser', 'os', 'device_type', 'data']

const ORDER = ['page', 'limit', 'sort_by', 'sort_dir', 'count_only', 'fields']
const NO_FILTERS = [...ORDER, 'columns', 'include']

type ExportRequest = Pick<FastifyRequest, 'tenant' | 'actor' | 'url'> & { query: object }

/** CSV downloads of lists: every matching record, with the filters of the list. */
export function csvRoutes(
  app: App,
  {
    clock,
    config,
    listFilters,
  }: {
    clock: Clock
    config: Pick<Config, 'eventFilterContactsMax'>
    listFilters: readonly ListFilter[]
  },
): void {
  /**
   * The audit log records the list, its columns and the names of its filters. It omits filter values: a search may
   * name a person, and erasure does not reach the log.
   */
  async function sendExport<Row>(
    { tenant, actor, query, url }: ExportRequest,
    reply: FastifyReply,
    file: Omit<CsvFile<Row>, 'beforeSending'>,
  ): Promise<FastifyReply> {
    const { name, columns } = file
    // Without filters that only have their default value. The router starts the query at a hash as well.
    const sent = new URLSearchParams(url.replace(/^[^?#]*[?#]/, ''))
    const filters = Object.keys(query).filter((key) => sent.has(key) && !NO_FILTERS.includes(key))
    const details = { name, columns, filters }
    const entry = { actor, action: 'export.downloaded', subjectKind: 'export', subjectId: null, details }
    return sendCsv(tenant, reply, {
      ...file,
      name: `${name}-${clock().toISOString().slice(0, 10)}.csv`,
      beforeSending: () => audit(tenant, entry, clock()),
    })
  }

  app.get(
    '/v1/contacts/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'contacts:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListContactsQuery.properties, columns }), response },
      preValidation: async (request) => {
        if (filtersByEvents(request.query)) requireScopeOf(request, 'events:read')
      },
    },
    async (request, reply) => {
      const { tenant, query } = request
      const filters = await contactFiltersOf(tenant, query, {
        listFilters,
        now: clock(),
        contactsMax: config.eventFilterContactsMax,
        requireScope: (scope) => requireScopeOf(request, scope),
      })
      const names = columnsOf(query.columns, CONTACT_USUAL)
      const pages = filters ? contactPages(tenant, filters) : nothing()
      const cellsOf = (row: ContactRowInSegments) => {
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
      }
      return sendExport(request, reply, { name: 'contacts', columns: names, pages, cellsOf })
    },
  )

  app.get(
    '/v1/companies/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'companies:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListCompaniesQuery.properties, columns }), response },
    },
    async (request, reply) => {
      const { columns: asked, ...query } = withoutOrder(request.query)
      const filters = companyFiltersOf(query, clock())
      const names = columnsOf(asked, COMPANY_USUAL)
      const cellsOf = (row: CompanyRow) => {
        const fields: Record<string, unknown> = {
          company_id: row.company_id,
          name: row.name,
          domain: row.domain,
          created_at: row.created_at.toISOString(),
          updated_at: row.updated_at.toISOString(),
        }
        const properties = row.properties as Record<string, unknown>
        return names.map((name) => own(fields, name) ?? own(properties, name))
      }
      const pages = companyPages(request.tenant, filters)
      return sendExport(request, reply, { name: 'companies', columns: names, pages, cellsOf })
    },
  )

  app.get(
    '/v1/events/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'events:read' },
      schema: { hide: true, querystring: Type.Object({ ...ListEventsQuery.properties, columns }), response },
    },
    async (request, reply) => {
      const { columns: asked, include, ...rest } = withoutOrder(request.query)
      const sent = { ...rest, includeSystem: include?.includes('system') ?? false }
      const filters = await withCompany(request.tenant, people, sent)
      const names = columnsOf(asked, EVENT_USUAL)
      const cellsOf = ({ contact, company, ...event }: EventWithContact) => {
        const fields: Record<string, unknown> = {
          ...event,
          contact_id: event.internal_contact_id,
          contact_email: contact?.email,
          company_name: company?.name,
        }
        return names.map((name) =>
          name.startsWith('data.') ? own(event.data, name.slice('data.'.length)) : own(fields, name),
        )
      }
      const pages = enriched(request.tenant, filters)
      return sendExport(request, reply, { name: 'events', columns: names, pages, cellsOf })
    },
  )
}

async function* enriched(tenant: Tenant, filters: Parameters<typeof eventPages>[1]) {
  for await (const events of eventPages(tenant, filters)) yield await joinContacts(tenant, people, events)
}

async function* nothing(): AsyncGenerator<never[]> {}

/** Reads own properties only: a column may be named `constructor`. */
function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A file has every record, in a fixed order. */
function withoutOrder<Query extends object>(query: Query) {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ORDER.includes(name))) as Omit<
    Query,
    'page' | 'limit' | 'sort_by' | 'sort_dir' | 'count_only' | 'fields'
  >
}
