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
import { lastEventQuery } from '../api/events.ts'
import { propertiesQuery, usualNames } from '../api/properties.ts'
import { allSegmentsQuery } from '../api/segments.ts'
import { useMay } from '../session/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { PropertyEditor } from '../ui/property-editor.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { ContactCompany } from './contact-company.tsx'
import { text } from './text.ts'

/** The side of a contact's page: its properties, company and segments. */
export function ContactSide({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('contacts:write')
  const { contact_id: contactId } = contact
  const { data } = useQuery(propertiesQuery('contacts'))
  const choices = Object.fromEntries(
    data?.properties.flatMap(({ name, choices }) => (choices ? [[name, choices]] : [])) ?? [],
  )
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
    <Stack component="aside" aria-label={text.side.label} gap="md" miw={0}>
      <Card>
        <PropertyEditor
          properties={contact.properties}
          first={usualNames(data?.properties)}
          mustStay={['email']}
          choices={choices}
          provenance={contact.properties_provenance}
          onSave={mayWrite ? save : undefined}
        />
      </Card>
      <Card>
        <Title order={2} size="h5" mb="xs">
          {text.side.company}
        </Title>
        <ContactCompany key={contactId} contact={contact} />
        <Title order={2} size="h5" mt="md" mb="xs">
          {text.side.segments}
        </Title>
        <Segments segmentIds={contact.segment_ids} />
      </Card>
      <Card>
        <Facts
          facts={[
            [text.side.lastSeen, <LastSeen key="last" contactId={contactId} />],
            [text.side.firstSeen, <Moment key="first" at={contact.first_seen_at} />],
            [text.side.created, <Moment key="created" at={contact.created_at} />],
            [text.side.createdBy, contact.creation_source],
            [text.side.updated, <Moment key="updated" at={contact.updated_at} />],
            [
              text.side.id,
              <Group key="id" gap={4} wrap="nowrap" justify="flex-end">
                <Text inherit truncate title={contactId}>
                  {contactId.slice(0, 13)}…
                </Text>
                <CopyButton value={contactId} label={text.side.idToCopy} />
              </Group>,
            ],
          ]}
        />
      </Card>
    </Stack>
  )
}

/** When the contact last did something. */
function LastSeen({ contactId }: { contactId: string }) {
  const { data } = useQuery(lastEventQuery(contactId))
  if (data === undefined) return '…'
  return data === null ? text.side.never : <Moment at={data.timestamp} />
}

function Segments({ segmentIds }: { segmentIds: string[] }) {
  const { data: segments } = useQuery({ ...allSegmentsQuery, enabled: segmentIds.length > 0 })
  if (segmentIds.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {text.side.noSegments}
      </Text>
    )
  }
  return (
    <Group gap={6} role="list" aria-label={text.side.segments}>
      {segmentIds.map((segmentId) => (
        <Badge key={segmentId} role="listitem" size="lg" variant="default" maw="100%" style={{ cursor: 'pointer' }}>
          <Link to={segmentPath(segmentId)} style={{ color: 'inherit', textDecoration: 'none' }}>
            <Foreign max={80}>{segments?.get(segmentId)?.name ?? text.side.segment}</Foreign>
          </Link>
        </Badge>
      ))}
    </Group>
  )
}

function segmentPath(segmentId: string): string {
  return `/segments/${segmentId}`
}
