import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { ImportLink } from '../imports/import-link.tsx'
import { DEFAULT_COLUMNS, type ListedContact, PHONE_COLUMNS } from '../records/contact-columns.tsx'
import { contactName } from '../records/contact-name.ts'
import { RecordListPage } from '../records/record-list-page.tsx'
import { useMay } from '../session/may.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { propertyLabel } from '../ui/property-value.ts'
import { ErrorState } from '../ui/states.tsx'
import { contactSearch, toContactQuery } from './contact-search.ts'
import { MergePair } from './merge-pair.tsx'
import { text } from './text.ts'
import { useContactColumns } from './use-contact-columns.ts'

const route = getRouteApi('/shell/contacts')

/** All contacts. */
export function ContactsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const input = toContactQuery(search)
  const contacts = useQuery(queryOf('listContacts', input))
  const { rows, figuresError, readFigures } = useEngagement(contacts.data?.contacts)
  const creating = useOperation('createContact', {
    onDone: ({ contact }) =>
      navigate({
        to: '/contacts/$contactId',
        params: { contactId: contact.contact_id },
        // Going back must not open the form again.
        replace: search.dialog === true,
      }),
  })
  const mayWrite = useMay('contacts:write')
  // Decided once: other columns would lose what a person types into a cell while the window becomes narrow.
  const [isPhone] = useState(() => window.matchMedia('(max-width: 47.99em)').matches)
  return (
    <RecordListPage
      entity="contacts"
      words={text}
      icon={IconUsers}
      search={search}
      onSearch={(update, replace) => navigate({ search: (before) => contactSearch({ ...update(before) }), replace })}
      input={input}
      query={contacts}
      rows={rows}
      idOf={idOf}
      nameOf={contactName}
      columns={useContactColumns()}
      usualColumns={DEFAULT_COLUMNS}
      fixedColumns={isPhone ? PHONE_COLUMNS : undefined}
      inFile={(chosen) => chosen.flatMap((id) => (id === 'name' ? NAMES : [id]))}
      create={
        <>
          <ButtonLink variant="default" to="/duplicates">
            {text.list.duplicates}
          </ButtonLink>
          {mayWrite ? (
            <>
              <ImportLink />
              <CreateDialog
                key={String(search.dialog)}
                title={text.list.create}
                fields={NEW_CONTACT}
                isOpenAtFirst={search.dialog === true}
                onCreate={({ email = '', ...properties }) => creating.mutateAsync({ email, properties })}
                onCancel={() => navigate({ search: (before) => ({ ...before, dialog: undefined }), replace: true })}
              />
            </>
          ) : null}
        </>
      }
      emptyAction={mayWrite ? <ImportLink /> : null}
      forPair={(pair) => <MergePair pair={pair} />}
      problem={figuresError ? <ErrorState error={figuresError} onRetry={readFigures} /> : null}
    />
  )
}

/** Contacts with their figures, which arrive later. The same rows as before, so that they need not be rendered again. */
function useEngagement(contacts: Contact[] | undefined) {
  const contact_ids = contacts?.map(({ contact_id }) => contact_id) ?? []
  const { data, error, refetch } = useQuery({
    ...queryOf('batchEngagement', { contact_ids }),
    enabled: contact_ids.length > 0,
  })
  const rows = useMemo(
    (): ListedContact[] | undefined =>
      contacts?.map((contact) => ({ ...contact, engagement: data?.engagement[contact.contact_id] })),
    [contacts, data],
  )
  return { rows, figuresError: data ? null : error, readFigures: refetch }
}

const idOf = ({ contact_id }: Contact) => contact_id

/** The columns of an exported file that replace the name. */
const NAMES = ['contact_id', 'firstname', 'lastname']

const NEW_CONTACT = [
  { name: 'email', label: propertyLabel('email'), type: 'email' as const, required: true },
  ...['firstname', 'lastname', 'company', 'jobtitle'].map((name) => ({ name, label: propertyLabel(name) })),
]
