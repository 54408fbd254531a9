import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { contactsQuery } from '../api/contacts.ts'
import { CONTACT_COLUMNS } from '../contacts/contact-columns.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { EmptyState } from '../ui/states.tsx'
import { PEOPLE_A_PAGE, peopleOf } from './people-query.ts'

interface CompanyPeopleProps {
  companyId: string
  page: number
  onPage: (page: number) => void
}

/** The contacts of a company. */
export function CompanyPeople({ companyId, page, onPage }: CompanyPeopleProps) {
  const { data, error, refetch, isPlaceholderData } = useQuery(contactsQuery(peopleOf(companyId, page)))
  return (
    <DataTable
      label="Contacts of the company"
      columns={CONTACT_COLUMNS.filter(({ id }) => COLUMNS.includes(id))}
      rows={data?.contacts}
      rowKey={({ contact_id }) => contact_id}
      error={error}
      onRetry={refetch}
      isUpdating={isPlaceholderData}
      empty={
        <EmptyState icon={IconUsers} title="No contacts of this company">
          A contact belongs to a company when it is named in a form, an import or over the API.
        </EmptyState>
      }
      paging={{ page, limit: PEOPLE_A_PAGE, total: data?.pagination.total_items ?? 0, onPage }}
    />
  )
}

const COLUMNS = ['name', 'email', 'jobtitle', 'lifecyclestage', 'created_at']
