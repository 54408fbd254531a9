import { Alert, Button, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { CONTACT_COLUMNS } from '../records/contact-columns.tsx'
import { contactName } from '../records/contact-name.ts'
import { contactChoice, useFoundContacts } from '../records/find-contacts.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { FindField } from '../ui/find-field.tsx'
import { List } from '../ui/list-page.tsx'
import { messageOf } from '../ui/states.tsx'
import { PEOPLE_A_PAGE, peopleOf } from './company-search.ts'
import { text } from './text.ts'

interface CompanyPeopleProps {
  companyId: string
  page: number
  onPage: (page: number) => void
}

/** The contacts of a company, to add and remove. */
export function CompanyPeople({ companyId, page, onPage }: CompanyPeopleProps) {
  const add = useMay('contacts:write') ? <AddContact companyId={companyId} /> : null
  const columns = CONTACT_COLUMNS.flatMap((column) => {
    const visibleFrom = COLUMNS.get(column.id)
    return visibleFrom ? [{ ...column, visibleFrom }] : COLUMNS.has(column.id) ? [column] : []
  })
  return (
    <Stack gap="sm">
      {add}
      <List
        label={text.people.table}
        opensRows
        query={useQuery(queryOf('listContacts', peopleOf(companyId, page)))}
        rowsOf={({ contacts }) => contacts}
        rowKey={({ contact_id }) => contact_id}
        columns={add ? [...columns, REMOVE] : columns}
        empty={{ icon: IconUsers, title: text.people.none, hint: text.people.noneHint }}
        paging={{ page, limit: PEOPLE_A_PAGE, onPage }}
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
  const removing = useOperation('updateContact')
  const name = contactName(contact).slice(0, 80)
  return (
    <ConfirmButton
      size="compact-xs"
      title={text.people.removeTitle(name)}
      explanation={text.people.removeExplanation}
      confirmLabel={text.people.remove}
      aria-label={text.people.removeLabel(name)}
      onConfirm={() => removing.mutateAsync({ contact_id: contact.contact_id, company_id: null })}
    >
      {text.people.remove}
    </ConfirmButton>
  )
}

function AddContact({ companyId }: { companyId: string }) {
  const [isOpen, { open, close }] = useDisclosure()
  const adding = useOperation('updateContact', { onDone: close })
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
          onChoose={({ contact_id }) => adding.mutate({ contact_id, company_id: companyId })}
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
