import Type from 'typebox'
import type { WarningsAbout } from '../conditions/language.ts'
import { requireNotComputed } from '../contacts/computed-names.ts'
import { ProjectedContact } from '../contacts/contact-object.ts'
import { countContacts, listContacts } from '../contacts/list.ts'
import { namesOverlapping } from '../contacts/visible-texts.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { Engagement, engagementOfCompany, TopPage, topPagesOf } from '../events/engagement.ts'
import { EnrichedEvent, JoinedContact } from '../events/event-object.ts'
import { eventFilterSchemas, withCompany } from '../events/filters.ts'
import { countEvents, listEvents } from '../events/list.ts'
import { joinContacts } from '../events/people.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { Id } from '../platform/http/responses.ts'
import { Company, etagOfCompany, toCompanyObject } from './company-object.ts'
import { countCompanies, listCompanies, readCompany } from './list.ts'
import { people } from './people.ts'
import {
  COMPANY_FIELDS,
  type CompanyFilter,
  companyFiltersOf,
  ListCompaniesQuery,
  NEW_COMPANY_FIELDS,
  parseCompany,
} from './requests.ts'
import { createCompany, deleteCompany, updateCompany } from './write.ts'

const tag = 'Companies'
/** Whether the filter in a query, as JSON, has conditions on events. */
const namesEventsIn = (query: unknown) => /"(event|sequence)"/.test(String(fieldOf(query, 'filter') ?? ''))
/** How many of a company's contacts are named as the most active. */
const ACTIVE_MAX = 5
const CompanyPath = { company_id: idInPath('company') }

const companyOperation = operationsWith<
  WriteDependencies & { warningsAbout: WarningsAbout; companyFilter: CompanyFilter }
>()

export const COMPANY_OPERATIONS = [
  companyOperation({
    name: 'listCompanies',
    tag,
    http: 'GET /v1/companies',
    command: 'company list',
    scope: 'companies:read',
    also: [{ scopes: ['events:read'], when: 'with event conditions in `filter`', ofSent: namesEventsIn }],
    summary: 'List, filter and search companies',
    input: ListCompaniesQuery.properties,
    output: {
      companies: Type.Optional(Type.Array(Company, { description: 'Absent with `count_only`.' })),
      pagination: Type.Optional(Pagination),
      count: Type.Optional(Type.Integer({ description: 'The only field with `count_only`; absent otherwise.' })),
    },
    errors: ['400 event_filter_too_broad', '400 unknown_segment'],
    async run(
      { tenant, now, redaction, warn, warningsAbout, companyFilter, requireScope },
      { page, limit, sort_by, sort_property, sort_dir, count_only, ...query },
    ) {
      const mayName = redaction && (await namesOverlapping(tenant, wordsOf(query.search)))
      const filters = await companyFiltersOf(tenant, query, { companyFilter, now, mayName, requireScope })
      const warnings = query.filter === undefined ? [] : await warningsAbout(tenant, 'companies', query.filter)
      for (const warning of warnings) warn(warning)
      const counting = countCompanies(tenant, filters)
      if (count_only) return { count: await counting }
      const order = { sortBy: sort_by, property: sort_property, direction: sort_dir } as const
      const [companies, total] = await Promise.all([listCompanies(tenant, filters, order, { page, limit }), counting])
      return { companies, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  companyOperation({
    name: 'createCompany',
    tag,
    http: 'POST /v1/companies',
    command: 'company create',
    scope: 'companies:write',
    summary: 'Create a company',
    input: NEW_COMPANY_FIELDS,
    output: { company: Company },
    status: 201,
    // A company has a domain or a name.
    needsBody: true,
    example: { domain: 'analytical.example', name: 'Analytical Engines' },
    errors: ['409 company_domain_taken', '409 computed_property', '413 company_too_large'],
    etag: async ({ company }, { tenant, findComputedNames }) =>
      etagOfCompany(company, (await findComputedNames(tenant)).companies),
    unaudited: 'data, not a setting of the tenant',
    isAtomic: true,
    async run({ tenant, now, findComputedNames }, fields) {
      const changes = parseCompany(fields, true)
      requireNotComputed(changes.properties, (await findComputedNames(tenant)).companies)
      return { company: toCompanyObject(await createCompany(tenant, changes, now)) }
    },
  }),
  companyOperation({
    name: 'getCompany',
    tag,
    http: 'GET /v1/companies/:company_id',
    command: 'company get',
    scope: 'companies:read',
    summary: 'Get a company',
    input: CompanyPath,
    output: { company: Company },
    etag: async ({ company }, { tenant, findComputedNames }) =>
      etagOfCompany(company, (await findComputedNames(tenant)).companies),
    run: async ({ tenant }, { company_id }) => ({ company: await readCompany(tenant, company_id) }),
  }),
  companyOperation({
    name: 'listCompanyContacts',
    tag,
    http: 'GET /v1/companies/:company_id/contacts',
    command: 'company contacts',
    scope: 'companies:read',
    also: [{ scopes: ['contacts:read'] }],
    summary: 'List the contacts of a company, newest first',
    input: { ...CompanyPath, ...pageParameters(20, 100) },
    output: { contacts: Type.Array(ProjectedContact), pagination: Pagination },
    async run({ tenant }, { company_id, page, limit }) {
      await readCompany(tenant, company_id)
      const filters = { company_id }
      const [contacts, total] = await Promise.all([
        listContacts(tenant, filters, {
          page: { page, limit },
          order: { sortBy: 'createdate', direction: 'desc' },
          projection: { kind: 'full' },
          withProvenance: false,
        }),
        countContacts(tenant, filters),
      ])
      return { contacts, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  companyOperation({
    name: 'getCompanyEngagement',
    tag,
    http: 'GET /v1/companies/:company_id/engagement',
    command: 'company engagement',
    scope: 'companies:read',
    also: [{ scopes: ['contacts:read', 'events:read'] }],
    summary:
      "Get when a company's contacts were last seen, how often they visited, their favorite pages, and the most active of them",
    description: 'If the company has more than 1,000 contacts, only the newest 1,000 count.',
    input: CompanyPath,
    output: {
      contacts: Type.Integer({ description: 'The number of contacts.' }),
      engagement: Engagement,
      top_pages: Type.Array(TopPage, { description: 'The most viewed first, at most 5.' }),
      most_active: Type.Array(
        Type.Object({ contact: JoinedContact, engagement: Engagement }, { title: 'ActiveContact' }),
        { description: 'The contacts with the most visits, at most 5.' },
      ),
    },
    async run({ tenant }, { company_id }) {
      await readCompany(tenant, company_id)
      const { contacts_of_company: ids = [] } = await withCompany(tenant, people, { company_id })
      const [contacts, { engagement, active }, top_pages] = await Promise.all([
        countContacts(tenant, { company_id }),
        engagementOfCompany(tenant, ids, ACTIVE_MAX),
        topPagesOf(tenant, { contacts_of_company: ids }),
      ])
      const named = await people.withCompanies(
        tenant,
        active.map(([contactId]) => contactId),
      )
      const most_active = active.flatMap(([contactId, figures]) => {
        const contact = named.get(contactId)?.contact
        return contact ? [{ contact, engagement: figures }] : []
      })
      return { contacts, engagement, top_pages, most_active }
    },
  }),
  companyOperation({
    name: 'listCompanyEvents',
    tag,
    http: 'GET /v1/companies/:company_id/events',
    command: 'company events',
    scope: 'events:read',
    summary: "List the events of a company's contacts, newest first",
    description: 'If the company has more than 1,000 contacts, only events of the newest 1,000 are listed.',
    input: {
      ...CompanyPath,
      ...pageParameters(20, 100),
      ...eventFilterSchemas('event_type', 'date_before'),
    },
    output: { events: Type.Array(EnrichedEvent), pagination: Pagination },
    async run({ tenant }, { company_id, page, limit, ...rest }) {
      await readCompany(tenant, company_id)
      const filters = await withCompany(tenant, people, { ...rest, company_id })
      const newest = { sortBy: 'timestamp', direction: 'desc' } as const
      const list = async () => joinContacts(tenant, people, await listEvents(tenant, filters, newest, { page, limit }))
      const [events, total] = await Promise.all([list(), countEvents(tenant, filters)])
      return { events, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  companyOperation({
    name: 'updateCompany',
    tag,
    http: 'PUT /v1/companies/:company_id',
    command: 'company update',
    scope: 'companies:write',
    summary: 'Change a company; properties are merged',
    input: { ...CompanyPath, ...COMPANY_FIELDS },
    output: { company: Company },
    example: { name: 'Analytical Engines', properties: { industry: 'Computing' } },
    errors: ['409 company_domain_taken', '409 computed_property', '413 company_too_large'],
    etag: async ({ company }, { tenant, findComputedNames }) =>
      etagOfCompany(company, (await findComputedNames(tenant)).companies),
    ifMatch: true,
    unaudited: 'data, not a setting of the tenant',
    async run({ tenant, now, requireMatch, findComputedNames }, { company_id, ...fields }) {
      const changes = parseCompany(fields, false)
      const { companies: computed } = await findComputedNames(tenant)
      requireNotComputed(changes.properties, computed)
      const company = await updateCompany(tenant, company_id, changes, now, computed, requireMatch)
      return { company: toCompanyObject(company) }
    },
  }),
  companyOperation({
    name: 'deleteCompany',
    tag,
    http: 'DELETE /v1/companies/:company_id',
    command: 'company delete',
    scope: 'companies:write',
    summary: 'Delete a company; its contacts remain',
    input: CompanyPath,
    output: { deleted: Type.Literal(true), company_id: Id },
    ifMatch: true,
    unaudited: 'data, not a setting of the tenant',
    async run(context, { company_id }) {
      await deleteCompany(context.tenant, context, company_id, context.requireMatch)
      return { deleted: true as const, company_id }
    },
  }),
]
