import { createRoute } from '@tanstack/react-router'
import { companiesQuery, companyQuery, peopleOf } from '../api/companies.ts'
import { contactsQuery } from '../api/contacts.ts'
import { queryOf } from '../api/operation.ts'
import { propertiesQuery } from '../api/properties.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'
import { companySearch, toCompanyQuery } from './company-search.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies',
  validateSearch: companySearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(companiesQuery(toCompanyQuery(deps)))
    void context.queryClient.prefetchQuery(queryOf('listViews', { limit: 200 }))
  },
  component: lazyPage(() => import('./companies-page.tsx'), 'CompaniesPage'),
})

const oneSearch = searchParams({
  tab: oneOf('contacts', 'activity', 'details'),
  page: pageNumber,
  view: oneOf('events'),
  event_type: text,
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies/$companyId',
  validateSearch: oneSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, params, deps }) => {
    void context.queryClient.prefetchQuery(companyQuery(params.companyId))
    void context.queryClient.prefetchQuery(propertiesQuery('companies'))
    void context.queryClient.prefetchQuery(contactsQuery(peopleOf(params.companyId, deps.page)))
  },
  component: lazyPage(() => import('./company-page.tsx'), 'CompanyPage'),
})

export const companyRoutes = [list, one] as const
