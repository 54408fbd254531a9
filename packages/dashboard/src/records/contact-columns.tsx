import { Badge, Stack, Text } from '@mantine/core'
import type { Contact, Engagement } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { propertyLabel, propertyText, valueWords } from '../ui/property-value.ts'
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
    const value = valueWords(key, properties[key])
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
      const stage = valueWords('lifecyclestage', properties.lifecyclestage)
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
  {
    id: 'creation_source',
    header: text.contactColumns.source,
    cell: ({ creation_source }) => valueWords('creation_source', creation_source),
  },
  CREATED_COLUMN,
  {
    id: 'first_seen_at',
    header: text.contactColumns.firstSeen,
    cell: ({ first_seen_at }) => <Moment at={first_seen_at} c="dimmed" />,
  },
]

/** A contact in a list, with its figures once they have arrived. */
export type ListedContact = Contact & { engagement?: Engagement | undefined }

/** When the contacts of a list were here, how often, and in which segments they are. */
export const engagementColumns = (
  segments: ReadonlyMap<string, { name: string }> | undefined,
): Column<ListedContact>[] => [
  {
    id: 'last_seen',
    header: text.contactColumns.lastSeen,
    width: 115,
    cell: ({ engagement }) => {
      if (engagement === undefined) return null
      const { last_seen_at: at } = engagement
      return at === null ? <None /> : <Moment at={at} c="dimmed" />
    },
  },
  {
    id: 'visits',
    header: text.contactColumns.visits,
    align: 'right',
    width: 85,
    cell: ({ engagement }) => (engagement === undefined ? null : formatNumber(engagement.visits)),
  },
  {
    id: 'segments',
    header: text.contactColumns.segments,
    width: 150,
    cell: ({ segment_ids: [first, ...more] }) => {
      if (first === undefined) return <None />
      const name = segments?.get(first)?.name
      return name === undefined ? null : (
        <>
          <Foreign max={60}>{name}</Foreign>
          {more.length === 0 ? null : text.contactColumns.moreSegments(more.length)}
        </>
      )
    },
  },
]

/** On a phone: who it is, in two lines, and when they were last here. */
export const PHONE_COLUMNS: Column<ListedContact>[] = [
  {
    id: 'name',
    header: text.contactColumns.name,
    cell: ({ contact_id: contactId, properties }) => {
      const name = contactName({ properties })
      const [company, email] = [propertyText(properties.company), propertyText(properties.email)]
      const second = company || (email === name ? '' : email)
      return (
        <Stack gap={0} miw={0} style={{ overflow: 'hidden' }}>
          <AnchorLink fw={550} inherit truncate to="/contacts/$contactId" params={{ contactId }}>
            <Foreign max={80}>{name}</Foreign>
          </AnchorLink>
          {second === '' ? null : (
            <Text size="xs" c="dimmed" truncate>
              <Foreign max={80}>{second}</Foreign>
            </Text>
          )}
        </Stack>
      )
    },
  },
  ...engagementColumns(undefined).filter(({ id }) => id === 'last_seen'),
]

/** They fit a window of 1280 px. */
export const DEFAULT_COLUMNS = ['name', 'email', 'company', 'lifecyclestage', 'last_seen', 'visits', 'segments']
