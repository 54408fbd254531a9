import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type CompanyFilter, companyFiltersOf, ListCompaniesQuery } from '../companies/requests.ts'
import type { Config } from '../config.ts'
import { contactFiltersOf, filtersByEvents, type ListFilter } from '../contacts/list-filters.ts'
import { ListContactsQuery } from '../contacts/requests.ts'
import { type CompileEventFilter, withCompany } from '../events/filters.ts'
import type { People } from '../events/people.ts'
import { includesSystem, ListEventsQuery } from '../events/requests.ts'
import { audit } from '../operations/audit.ts'
import { EVERYWHERE } from '../operations/errors.ts'
import { callerOf } from '../operations/idempotency.ts'
import { requireScopeOf } from '../operations/scopes.ts'
import type { App } from '../platform/http/app-types.ts'
import { sendCsv } from '../platform/http/csv.ts'
import { filterText } from '../platform/http/query-parameters.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { errorResponses, fileResponse, type NamedError } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { companiesFile, contactsFile, eventsFile, exportEntry, type ListFile, withoutOrder } from './csv-files.ts'

const columns = filterText('A comma-separated list of columns: fields, and keys of properties or data.', 8_000)
const DESCRIPTION =
  'Every matching record, with the filters of the list. Sorting, paging and `fields` have no effect. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe.'
/** The responses of a download. @param ofFilters the errors of the list's filters */
const responsesWith = (...ofFilters: NamedError[]) => ({
  200: fileResponse('text/csv', 'The names of the columns, and a line for each record.'),
  ...errorResponses([...EVERYWHERE, ...ofFilters, '400 validation_error', '429 too_many_exports']),
})

type ExportRequest = Pick<FastifyRequest, 'tenant' | 'actor' | 'url'> & { query: object }

/** CSV downloads of lists: every matching record, with the filters of the list. */
export function csvRoutes(
  app: App,
  {
    clock,
    config,
    listFilters,
    companyFilter,
    people,
    compileEventFilter,
    rateLimiter,
  }: {
    clock: Clock
    config: Pick<Config, 'eventFilterContactsMax'>
    listFilters: readonly ListFilter[]
    companyFilter: CompanyFilter
    people: People
    compileEventFilter: CompileEventFilter
    rateLimiter: Pick<RateLimiter, 'checkAudited'>
  },
): void {
  /** Sends a list as a dated file. */
  async function sendExport<Row>(
    { tenant, actor, query, url }: ExportRequest,
    reply: FastifyReply,
    file: ListFile<Row>,
  ): Promise<FastifyReply> {
    rateLimiter.checkAudited(callerOf(actor))
    const entry = exportEntry(file, query, url)
    return sendCsv(tenant, reply, {
      ...file,
      name: `${file.name}-${clock().toISOString().slice(0, 10)}.csv`,
      beforeSending: () => audit(tenant, { actor, ...entry }, clock()),
    })
  }

  app.get(
    '/v1/contacts/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'exportContacts',
        tags: ['Contacts'],
        summary: 'Download contacts as a CSV file',
        description: `${DESCRIPTION} \`has_event_*\` filters, and a \`filter\` with event conditions, also need the scope \`events:read\`.`,
        querystring: Type.Object({ ...ListContactsQuery.properties, columns }),
        response: responsesWith('400 event_filter_too_broad', '400 unknown_import', '400 unknown_segment'),
      },
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
      return sendExport(request, reply, contactsFile(tenant, filters, query.columns))
    },
  )

  app.get(
    '/v1/companies/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'companies:read' },
      schema: {
        operationId: 'exportCompanies',
        tags: ['Companies'],
        summary: 'Download companies as a CSV file',
        description: `${DESCRIPTION} A \`filter\` with event conditions also needs the scope \`events:read\`.`,
        querystring: Type.Object({ ...ListCompaniesQuery.properties, columns }),
        response: responsesWith('400 event_filter_too_broad', '400 unknown_segment'),
      },
    },
    async (request, reply) => {
      const { columns: asked, ...query } = withoutOrder(request.query)
      const filters = await companyFiltersOf(request.tenant, query, {
        companyFilter,
        now: clock(),
        requireScope: (scope) => requireScopeOf(request, scope),
      })
      return sendExport(request, reply, companiesFile(request.tenant, filters, asked))
    },
  )

  app.get(
    '/v1/events/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'events:read' },
      schema: {
        operationId: 'exportEvents',
        tags: ['Events'],
        summary: 'Download events as a CSV file',
        description: DESCRIPTION,
        querystring: Type.Object({ ...ListEventsQuery.properties, columns }),
        response: responsesWith(),
      },
    },
    async (request, reply) => {
      const { columns: asked, include, filter, ...rest } = withoutOrder(request.query)
      const requireScope = (scope: 'contacts:read') => requireScopeOf(request, scope)
      const context = { now: clock(), requireScope, visibleOnly: false }
      const where = filter === undefined ? {} : { where: await compileEventFilter(request.tenant, { filter }, context) }
      const sent = { ...rest, includeSystem: includesSystem(include), ...where }
      const filters = await withCompany(request.tenant, people, sent)
      return sendExport(request, reply, eventsFile(request.tenant, people, filters, asked))
    },
  )
}
