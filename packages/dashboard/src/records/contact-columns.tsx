import { Badge } from '@mantine/core'
import type { Contact } from '../api/contacts.ts'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { propertyLabel, propertyText } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { contactName } from './contact-name.ts'
import { text } from './text.ts'

/** The fields of a contact that every list has. */
type Listed = Pick<Contact, 'contact_id' | 'properties' | 'created_at'>

/** The column of a property. */
export const propertyColumn = (key: string, more: Partial<Column<Listed>> = {}): Column<Listed> => ({
  id: key,
  header: propertyLabel(key),
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
    header: text.contactColumns.name,
    sortBy: 'lastname',
    width: 165,
    cell: (contact) => (
      <AnchorLink fw={550} inherit to="/contacts/$contactId" params={{ contactId: contact.contact_id }}>
        <Foreign max={120}>{contactName(contact)}</Foreign>
      </AnchorLink>
    ),
  },
  propertyColumn('email', { sortBy: 'email', visibleFrom: 'sm', width: 225 }),
  propertyColumn('company', { sortBy: 'company', visibleFrom: 'sm', width: 145 }),
  propertyColumn('jobtitle', { visibleFrom: 'lg', width: 145 }),
  {
    id: 'lifecyclestage',
    header: text.contactColumns.stage,
    width: 125,
    cell: ({ properties }) => {
      const stage = propertyText(properties.lifecyclestage)
      return stage === '' ? <None /> : <Badge>{stage}</Badge>
    },
  },
]

/** When a contact was created. */
export const CREATED_COLUMN: Column<Listed> = {
  id: 'created_at',
  header: text.contactColumns.created,
  sortBy: 'createdate',
  width: 120,
  cell: ({ created_at }) => <Moment at={created_at} c="dimmed" />,
}

/** The available columns of the list of contacts. */
export const CONTACT_COLUMNS: Column<Contact>[] = [
  ...FIRST_COLUMNS,
  propertyColumn('country', { width: 140 }),
  propertyColumn('lead_status'),
  propertyColumn('industry'),
  propertyColumn('city'),
  propertyColumn('state'),
  { id: 'creation_source', header: text.contactColumns.source, cell: ({ creation_source }) => creation_source },
  CREATED_COLUMN,
  {
    id: 'first_seen_at',
    header: text.contactColumns.firstSeen,
    cell: ({ first_seen_at }) => <Moment at={first_seen_at} c="dimmed" />,
  },
]

/** They fit a window of 1280 px. */
export const DEFAULT_COLUMNS = ['name', 'email', 'company', 'jobtitle', 'lifecyclestage', 'created_at']
