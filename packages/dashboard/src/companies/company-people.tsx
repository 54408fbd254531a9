import { Alert, Button, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Contact, contactsQuery, refreshContacts, updateContact } from '../api/contacts.ts'
import { useMay } from '../app/may.ts'
import { CONTACT_COLUMNS } from '../contacts/contact-columns.tsx'
import { contactName } from '../contacts/contact-name.ts'
import { contactChoice, useFoundContacts } from '../contacts/find-contacts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { FindField } from '../ui/find-field.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { PEOPLE_A_PAGE, peopleOf } from './people-query.ts'

interface CompanyPeopleProps {
  companyId: string
  page: number
  onPage: (page: number) => void
}

/** The contacts of a company, to add and remove. */
export function CompanyPeople({ companyId, page, onPage }: CompanyPeopleProps) {
  const { data, error, refetch, isPlaceholderData } = useQuery(contactsQuery(peopleOf(companyId, page)))
  const add = useMay('contacts:write') ? <AddContact companyId={companyId} /> : null
  const columns = CONTACT_COLUMNS.filter(({ id }) => COLUMNS.includes(id))
  return (
    <Stack gap="sm">
      {add}
      <DataTable
        label="Company contacts"
        columns={add ? [...columns, REMOVE] : columns}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconUsers} title="No contacts in this company">
            Forms, imports and the API link contacts to a company. You can also add them here.
          </EmptyState>
        }
        paging={{ page, limit: PEOPLE_A_PAGE, total: data?.pagination.total_items ?? 0, onPage }}
      />
    </Stack>
  )
}

const COLUMNS = ['name', 'email', 'jobtitle', 'lifecyclestage', 'created_at']

const REMOVE: Column<Contact> = {
  id: 'actions',
  header: 'Actions',
  align: 'right',
  cell: (contact) => <RemoveContact contact={contact} />,
}

function RemoveContact({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const name = contactName(contact).slice(0, 80)
  return (
    <ConfirmButton
      size="compact-xs"
      title={`Take ${name} away?`}
      explanation="The contact is kept, without a company."
      confirmLabel="Remove"
      aria-label={`Remove ${name}`}
      onConfirm={async () => {
        await updateContact(contact.contact_id, { company_id: null })
        await refreshContacts(queryClient)
      }}
    >
      Remove
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
        Add a contact
      </Button>
      <Modal opened={isOpen} onClose={close} title="Add a contact">
        <FindField
          label="Find contacts"
          placeholder="Name or e-mail address"
          what="Contacts"
          useFound={useFoundContacts}
          keyOf={({ contact_id }) => contact_id}
          nameOf={(contact) => `${contactChoice(contact)}${contact.company_id === null ? '' : ' · of another company'}`}
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
