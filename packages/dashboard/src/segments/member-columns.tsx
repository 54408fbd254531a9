import { Anchor, Badge } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { SegmentMember } from '../api/segments.ts'
import { contactName } from '../contacts/contact-name.ts'
import type { Column } from '../ui/data-table.tsx'
import { propertyText } from '../ui/property-value.ts'
import { Foreign, Moment, None } from '../ui/text.tsx'

const property = (key: string, header: string, more: Partial<Column<SegmentMember>> = {}): Column<SegmentMember> => ({
  id: key,
  header,
  cell: ({ properties }) => {
    const value = propertyText(properties[key])
    return value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
  },
  ...more,
})

/** What is shown of the contacts of a segment. */
export const MEMBER_COLUMNS: Column<SegmentMember>[] = [
  {
    id: 'name',
    header: 'Name',
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
  property('email', 'E-mail', { visibleFrom: 'sm' }),
  property('company', 'Company', { visibleFrom: 'sm' }),
  property('jobtitle', 'Job title', { visibleFrom: 'lg' }),
  {
    id: 'lifecyclestage',
    header: 'Stage',
    cell: ({ properties }) => {
      const stage = propertyText(properties.lifecyclestage)
      return stage === '' ? <None /> : <Badge>{stage}</Badge>
    },
  },
  {
    id: 'created_at',
    header: 'Created',
    visibleFrom: 'md',
    cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
  },
]
