import { IconBuilding } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Company } from '../api/types.ts'
import { companyName, DEFAULT_COLUMNS } from '../records/company-columns.tsx'
import { RecordListPage } from '../records/record-list-page.tsx'
import { text as records } from '../records/text.ts'
import { useMay } from '../session/may.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { companySearch, toCompanyQuery } from './company-search.ts'
import { text } from './text.ts'
import { useCompanyColumns } from './use-company-columns.ts'

const route = getRouteApi('/shell/companies')

/** All companies. */
export function CompaniesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const input = toCompanyQuery(search)
  const companies = useQuery(queryOf('listCompanies', input))
  const creating = useOperation('createCompany', {
    onDone: ({ company }) => navigate({ to: '/companies/$companyId', params: { companyId: company.company_id } }),
  })
  return (
    <RecordListPage
      entity="companies"
      words={text}
      icon={IconBuilding}
      search={search}
      onSearch={(update, replace) => navigate({ search: (before) => companySearch({ ...update(before) }), replace })}
      input={input}
      query={companies}
      rows={companies.data?.companies}
      idOf={idOf}
      nameOf={companyName}
      columns={useCompanyColumns()}
      usualColumns={DEFAULT_COLUMNS}
      create={
        useMay('companies:write') ? (
          <CreateDialog title={text.list.create} fields={NEW_COMPANY} onCreate={creating.mutateAsync} />
        ) : null
      }
    />
  )
}

const idOf = ({ company_id }: Company) => company_id

const NEW_COMPANY = [
  { name: 'name', label: records.companyColumns.name, required: true },
  { name: 'domain', label: records.companyColumns.domain },
]
