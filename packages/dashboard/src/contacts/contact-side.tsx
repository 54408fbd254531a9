import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  type Contact,
  type PropertyChanges,
  refreshContacts,
  showContactChange,
  updateContact,
} from '../api/contacts.ts'
import { allSegmentsQuery } from '../api/segments.ts'
import { useMay } from '../app/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { PropertyEditor } from '../ui/property-editor.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { ContactCompany } from './contact-company.tsx'
import { USUAL_PROPERTIES } from './contact-name.ts'

/** The side of a contact's page: its properties, company and segments. */
export function ContactSide({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('contacts:write')
  const { contact_id: contactId } = contact
  const save = async (properties: PropertyChanges) => {
    const undo = await showContactChange(queryClient, contactId, { properties })
    try {
      await updateContact(contactId, { properties })
    } catch (error) {
      undo()
      throw error
    }
    void refreshContacts(queryClient)
  }
  return (
    <Stack component="aside" aria-label="Properties" gap="md" miw={0}>
      <Card>
        <PropertyEditor
          properties={contact.properties}
          first={USUAL_PROPERTIES}
          mustStay={['email']}
          choices={{ lifecyclestage: STAGES }}
          provenance={contact.properties_provenance}
          onSave={mayWrite ? save : undefined}
        />
      </Card>
      <Card>
        <Title order={2} size="h5" mb="xs">
          Belongs to
        </Title>
        <ContactCompany key={contactId} contact={contact} />
        <Segments segmentIds={contact.segment_ids} />
      </Card>
      <Card>
        <Facts
          facts={[
            ['First seen', <Moment key="first" at={contact.first_seen_at} />],
            ['Created', <Moment key="created" at={contact.created_at} />],
            ['Created by', contact.creation_source],
            ['Last change', <Moment key="updated" at={contact.updated_at} />],
            [
              'Contact id',
              <Group key="id" gap={4} wrap="nowrap" justify="flex-end">
                <Text inherit truncate title={contactId}>
                  {contactId.slice(0, 13)}…
                </Text>
                <CopyButton value={contactId} label="contact id" />
              </Group>,
            ],
          ]}
        />
      </Card>
    </Stack>
  )
}

const STAGES = ['lead', 'prospect', 'mql', 'sql', 'opportunity', 'customer', 'evangelist', 'subscriber', 'other']

function Segments({ segmentIds }: { segmentIds: string[] }) {
  const { data: segments } = useQuery({ ...allSegmentsQuery, enabled: segmentIds.length > 0 })
  if (segmentIds.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No segment.
      </Text>
    )
  }
  return (
    <Group gap={6} role="list" aria-label="Segments">
      {segmentIds.map((segmentId) => (
        <Badge key={segmentId} role="listitem" size="lg" variant="default" maw="100%" style={{ cursor: 'pointer' }}>
          <Link to={segmentPath(segmentId)} style={{ color: 'inherit', textDecoration: 'none' }}>
            <Foreign max={80}>{segments?.get(segmentId)?.name ?? 'Segment'}</Foreign>
          </Link>
        </Badge>
      ))}
    </Group>
  )
}

function segmentPath(segmentId: string): string {
  return `/segments/${segmentId}`
}
