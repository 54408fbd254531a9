import Type from 'typebox'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, paginationOf } from '../platform/http/pagination.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import { Company, toCompanyObject } from './company-object.ts'
import { countCompanies, listCompanies, readCompany } from './list.ts'
import { CreateCompanyBody, ListCompaniesQuery, parseCompany, UpdateCompanyBody } from './requests.ts'
import { createCompany, deleteCompany, updateCompany } from './write.ts'

const Path = Type.Object({ company_id: Type.String() })
const OneCompany = success({ company: Company })

/** Companies: list, create, read, update, delete. */
export function companyRoutes(app: App, dependencies: WriteDependencies): void {
  const { clock } = dependencies
  app.get(
    '/v1/companies',
    {
      config: { access: 'companies:read' },
      schema: {
        operationId: 'listCompanies',
        summary: 'List, filter and search companies',
        tags: ['Companies'],
        querystring: ListCompaniesQuery,
        response: {
          200: Type.Union([
            success({ companies: Type.Array(Company), pagination: Pagination }),
            success({ count: Type.Integer() }),
          ]),
        },
      },
    },
    async ({ tenant, query }) => {
      const { page = 1, limit = 20, sort_by, sort_dir, count_only, ...filters } = query
      const counting = countCompanies(tenant, filters)
      if (count_only) return { status: 'success' as const, count: await counting }
      const order = { sortBy: sort_by ?? 'createdate', direction: sort_dir ?? 'desc' } as const
      const [companies, total] = await Promise.all([listCompanies(tenant, filters, order, { page, limit }), counting])
      return { status: 'success' as const, companies, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/v1/companies',
    {
      config: { access: 'companies:write' },
      schema: {
        operationId: 'createCompany',
        summary: 'Create a company',
        tags: ['Companies'],
        body: CreateCompanyBody,
        response: { 201: OneCompany },
      },
    },
    async ({ tenant, body }, reply) => {
      const row = await createCompany(tenant, parseCompany(body, true), clock())
      return reply.code(201).send({ status: 'success', company: toCompanyObject(row) })
    },
  )

  app.get(
    '/v1/companies/:company_id',
    {
      config: { access: 'companies:read' },
      schema: {
        operationId: 'getCompany',
        summary: 'Get a company',
        tags: ['Companies'],
        params: Path,
        response: { 200: OneCompany },
      },
    },
    async ({ tenant, params }) => {
      const company = await readCompany(tenant, pathId(params.company_id, 'company'))
      return { status: 'success' as const, company }
    },
  )

  app.put(
    '/v1/companies/:company_id',
    {
      config: { access: 'companies:write' },
      schema: {
        operationId: 'updateCompany',
        summary: 'Change a company; properties are merged',
        tags: ['Companies'],
        params: Path,
        body: UpdateCompanyBody,
        response: { 200: OneCompany },
      },
    },
    async ({ tenant, params, body }) => {
      const changes = parseCompany(body, false)
      const row = await updateCompany(tenant, pathId(params.company_id, 'company'), changes, clock())
      return { status: 'success' as const, company: toCompanyObject(row) }
    },
  )

  app.delete(
    '/v1/companies/:company_id',
    {
      config: { access: 'companies:write' },
      schema: {
        operationId: 'deleteCompany',
        summary: 'Delete a company; its contacts stay',
        tags: ['Companies'],
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), company_id: Id }) },
      },
    },
    async ({ tenant, params }) => {
      const companyId = pathId(params.company_id, 'company')
      await deleteCompany(tenant, dependencies, companyId)
      return { status: 'success' as const, deleted: true as const, company_id: companyId }
    },
  )
}
