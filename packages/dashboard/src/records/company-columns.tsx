import type { Company } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { propertyLabel, propertyText } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

/** The column of a property. */
export const propertyColumn = (key: string, more: Partial<Column<Company>> = {}): Column<Company> => ({
  id: key,
  header: propertyLabel(key),
  cell: ({ properties }) => {
    const value = propertyText(properties[key])
    return value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
  },
  ...more,
})

const quantity = (key: string): Column<Company> =>
  propertyColumn(key, {
    align: 'right',
    width: 125,
    cell: ({ properties }) => {
      const value = properties[key]
      const shown = typeof value === 'number' ? formatNumber(value) : propertyText(value)
      return shown === '' ? <None /> : <Foreign max={40}>{shown}</Foreign>
    },
  })

/** The available columns of the list of companies. */
export const COMPANY_COLUMNS: Column<Company>[] = [
  {
    id: 'name',
    header: text.companyColumns.name,
    width: 190,
    sortBy: 'name',
    cell: (company) => (
      <AnchorLink fw={550} inherit to="/companies/$companyId" params={{ companyId: company.company_id }}>
        <Foreign max={120}>{companyName(company)}</Foreign>
      </AnchorLink>
    ),
  },
  {
    id: 'domain',
    header: text.companyColumns.domain,
    width: 200,
    cell: ({ domain }) => (domain === null ? <None /> : <Foreign max={120}>{domain}</Foreign>),
  },
  propertyColumn('industry', { width: 150 }),
  propertyColumn('country', { width: 135 }),
  propertyColumn('state'),
  propertyColumn('city'),
  quantity('numberofemployees'),
  quantity('annualrevenue'),
  {
    id: 'created_at',
    header: text.companyColumns.created,
    sortBy: 'createdate',
    width: 120,
    cell: ({ created_at }) => <Moment at={created_at} c="dimmed" />,
  },
]

/** They fit a window of 1280 px. */
export const DEFAULT_COLUMNS = ['name', 'domain', 'industry', 'country', 'numberofemployees', 'created_at']

/** The display name of a company. */
export function companyName({ name, domain }: Pick<Company, 'name' | 'domain'>): string {
  return name || domain || text.unnamed
}
