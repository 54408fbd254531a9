import { Alert, Button, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { PEOPLE_A_PAGE, peopleOf } from '../api/companies.ts'
import { type Contact, contactsQuery, refreshContacts, updateContact } from '../api/contacts.ts'
import { CONTACT_COLUMNS } from '../records/contact-columns.tsx'
import { contactName } from '../records/contact-name.ts'
import { contactChoice, useFoundContacts } from '../records/find-contacts.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { FindField } from '../ui/find-field.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

interface CompanyPeopleProps {
  companyId: string
  page: number
  onPage: (page: number) => void
}

/** The contacts of a company, to add and remove. */
export function CompanyPeople({ companyId, page, onPage }: CompanyPeopleProps) {
  const { data, error, refetch, isPlaceholderData } = useQuery(contactsQuery(peopleOf(companyId, page)))
  const add = useMay('contacts:write') ? <AddContact companyId={companyId} /> : null
  const columns = CONTACT_COLUMNS.flatMap((column) => {
    const visibleFrom = COLUMNS.get(column.id)
    return visibleFrom ? [{ ...column, visibleFrom }] : COLUMNS.has(column.id) ? [column] : []
  })
  return (
    <Stack gap="sm">
      {add}
      <DataTable
        label={text.people.table}
        opensRows
        columns={add ? [...columns, REMOVE] : columns}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconUsers} title={text.people.none}>
            {text.people.noneHint}
          </EmptyState>
        }
        paging={{ page, limit: PEOPLE_A_PAGE, total: data?.pagination.total_items ?? 0, onPage }}
      />
    </Stack>
  )
}

/** The columns, and the window widths from which there is space for them beside the properties. */
const COLUMNS = new Map<string, 'sm' | 'xl' | undefined>([
  ['name', undefined],
  ['email', 'sm'],
  ['jobtitle', 'xl'],
  ['lifecyclestage', undefined],
  ['created_at', 'xl'],
])

const REMOVE: Column<Contact> = {
  id: 'actions',
  header: text.people.actions,
  align: 'right',
  cell: (contact) => <RemoveContact contact={contact} />,
}

function RemoveContact({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const name = contactName(contact).slice(0, 80)
  return (
    <ConfirmButton
      size="compact-xs"
      title={text.people.removeTitle(name)}
      explanation={text.people.removeExplanation}
      confirmLabel={text.people.remove}
      aria-label={text.people.removeLabel(name)}
      onConfirm={async () => {
        await updateContact(contact.contact_id, { company_id: null })
        await refreshContacts(queryClient)
      }}
    >
      {text.people.remove}
    </ConfirmButton>
  )
}

function AddContact({ companyId }: { companyId: string }) {
  const queryClient = useQueryClient()
  const [isOpen, { open, close }] = useDisclosure()
  const adding = useMutation({
    mutationFn: ({ contact_id: id }: Contact) => updateContact(id, { company_id: companyId }),
    onSuccess: async () => {
      await refreshContacts(queryClient)
      close()
    },
  })
  return (
    <>
      <Button variant="default" size="xs" ml="auto" leftSection={<IconPlus size={14} aria-hidden />} onClick={open}>
        {text.people.add}
      </Button>
      <Modal opened={isOpen} onClose={close} title={text.people.add}>
        <FindField
          label={text.people.find}
          placeholder={text.people.findHint}
          what={text.people.contacts}
          useFound={useFoundContacts}
          keyOf={({ contact_id }) => contact_id}
          nameOf={(contact) =>
            contact.company_id === null ? contactChoice(contact) : text.people.ofAnother(contactChoice(contact))
          }
          isExcluded={({ company_id }) => company_id === companyId}
          onChoose={(contact) => adding.mutate(contact)}
          disabled={adding.isPending}
          autoFocus
        />
        {adding.isError ? (
          <Alert color="red" role="alert" mt="sm">
            {messageOf(adding.error)}
          </Alert>
        ) : null}
      </Modal>
    </>
  )
}
