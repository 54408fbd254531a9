import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Company } from '../api/companies.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { propertyText } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'

/** The column of a property. */
export const propertyColumn = (key: string, header: string, more: Partial<Column<Company>> = {}): Column<Company> => ({
  id: key,
  header,
  cell: ({ properties }) => {
    const value = propertyText(properties[key])
    return value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
  },
  ...more,
})

const quantity = (key: string, header: string): Column<Company> =>
  propertyColumn(key, header, {
    align: 'right',
    visibleFrom: 'md',
    cell: ({ properties }) => {
      const value = properties[key]
      const text = typeof value === 'number' ? formatNumber(value) : propertyText(value)
      return text === '' ? <None /> : <Foreign max={40}>{text}</Foreign>
    },
  })

/** The available columns of the list of companies. */
export const COMPANY_COLUMNS: Column<Company>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: 'name',
    cell: (company) => (
      <Anchor
        fw={550}
        inherit
        renderRoot={(props) => (
          <Link to="/companies/$companyId" params={{ companyId: company.company_id }} {...props} />
        )}
      >
        <Foreign max={120}>{companyName(company)}</Foreign>
      </Anchor>
    ),
  },
  {
    id: 'domain',
    header: 'Domain',
    visibleFrom: 'sm',
    cell: ({ domain }) => (domain === null ? <None /> : <Foreign max={120}>{domain}</Foreign>),
  },
  propertyColumn('industry', 'Industry'),
  propertyColumn('country', 'Country', { visibleFrom: 'sm' }),
  propertyColumn('state', 'State'),
  propertyColumn('city', 'City'),
  quantity('numberofemployees', 'Employees'),
  quantity('annualrevenue', 'Annual revenue'),
  {
    id: 'created_at',
    header: 'Created',
    sortBy: 'createdate',
    visibleFrom: 'sm',
    cell: ({ created_at }) => <Moment at={created_at} c="dimmed" />,
  },
]

export const DEFAULT_COLUMNS = ['name', 'domain', 'industry', 'country', 'numberofemployees', 'created_at']

/** The display name of a company. */
export function companyName({ name, domain }: Pick<Company, 'name' | 'domain'>): string {
  return name || domain || 'Unnamed'
}
