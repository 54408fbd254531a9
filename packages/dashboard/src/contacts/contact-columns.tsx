import { Anchor, Badge } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Contact } from '../api/contacts.ts'
import type { Column } from '../ui/data-table.tsx'
import { propertyText } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { contactName } from './contact-name.ts'

/** The fields of a contact that every list has. */
type Listed = Pick<Contact, 'contact_id' | 'properties' | 'created_at'>

/** The column of a property. */
export const propertyColumn = (key: string, header: string, more: Partial<Column<Listed>> = {}): Column<Listed> => ({
  id: key,
  header,
  cell: ({ properties }) => {
    const value = propertyText(properties[key])
    return value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
  },
  ...more,
})

/** The first columns of every list of contacts. */
export const FIRST_COLUMNS: Column<Listed>[] = [
  {
    id: 'name',
    header: 'Name',
    sortBy: 'lastname',
    cell: (contact) => (
      <Anchor
        fw={550}
        inherit
        renderRoot={(props) => <Link to="/contacts/$contactId" params={{ contactId: contact.contact_id }} {...props} />}
      >
        <Foreign max={120}>{contactName(contact)}</Foreign>
      </Anchor>
    ),
  },
  propertyColumn('email', 'E-mail', { sortBy: 'email', visibleFrom: 'sm' }),
  propertyColumn('company', 'Company', { sortBy: 'company', visibleFrom: 'sm' }),
  propertyColumn('jobtitle', 'Job title', { visibleFrom: 'lg' }),
  {
    id: 'lifecyclestage',
    header: 'Stage',
    cell: ({ properties }) => {
      const stage = propertyText(properties.lifecyclestage)
      return stage === '' ? <None /> : <Badge>{stage}</Badge>
    },
  },
]

/** When a contact was created. */
export const CREATED_COLUMN: Column<Listed> = {
  id: 'created_at',
  header: 'Created',
  sortBy: 'createdate',
  cell: ({ created_at }) => <Moment at={created_at} c="dimmed" />,
}

/** The available columns of the list of contacts. */
export const CONTACT_COLUMNS: Column<Contact>[] = [
  ...FIRST_COLUMNS,
  propertyColumn('country', 'Country', { visibleFrom: 'md' }),
  propertyColumn('lead_status', 'Lead status'),
  propertyColumn('industry', 'Industry'),
  propertyColumn('city', 'City'),
  propertyColumn('state', 'State'),
  { id: 'creation_source', header: 'Source', cell: ({ creation_source }) => creation_source },
  CREATED_COLUMN,
  { id: 'first_seen_at', header: 'First seen', cell: ({ first_seen_at }) => <Moment at={first_seen_at} c="dimmed" /> },
]

export const DEFAULT_COLUMNS = ['name', 'email', 'company', 'jobtitle', 'lifecyclestage', 'country', 'created_at']
