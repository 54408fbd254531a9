import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'
import { companySearch, peopleOf, toCompanyQuery } from './company-search.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/companies',
  validateSearch: companySearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(queryOf('listCompanies', toCompanyQuery(deps)))
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
    void context.queryClient.prefetchQuery(queryOf('getCompany', { company_id: params.companyId }))
    void context.queryClient.prefetchQuery(queryOf('listProperties', { entity: 'companies' }))
    void context.queryClient.prefetchQuery(queryOf('listContacts', peopleOf(params.companyId, deps.page)))
  },
  component: lazyPage(() => import('./company-page.tsx'), 'CompanyPage'),
})

export const companyRoutes = [list, one] as const
