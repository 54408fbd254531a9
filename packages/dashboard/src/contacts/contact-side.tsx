import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { saveShown } from '../api/optimistic.ts'
import type { Contact } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { PropertyEditor } from '../ui/property-editor.tsx'
import { computedNames, usualNames, valueWords } from '../ui/property-value.ts'
import { Moment } from '../ui/text.tsx'
import { ContactCompany } from './contact-company.tsx'
import classes from './contact-page.module.css'
import { Merges } from './merges.tsx'
import { ScoresCard } from './scores-card.tsx'
import { text } from './text.ts'

/** The side of a contact's page: its properties, company and segments. */
export function ContactSide({ contact }: { contact: Contact }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('contacts:write')
  const { contact_id: contactId } = contact
  const { data } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
  const choices = Object.fromEntries(
    data?.properties.flatMap(({ name, choices }) => (choices ? [[name, choices]] : [])) ?? [],
  )
  const save = (properties: Record<string, unknown>) => saveShown(queryClient, 'contacts', contactId, { properties })
  return (
    <Stack component="aside" aria-label={text.side.label} gap="md" miw={0}>
      <ScoresCard contactId={contactId} />
      <Card>
        <PropertyEditor
          properties={contact.properties}
          first={usualNames(data?.properties)}
          groups={PROPERTY_GROUPS}
          mustStay={['email']}
          computed={computedNames(data?.properties)}
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
      </Card>
      <Merges contactId={contactId} />
      <Card component="details" className={classes.folded}>
        <Text component="summary" size="sm" fw={600}>
          {text.side.record}
        </Text>
        <Facts
          facts={[
            [text.side.firstSeen, <Moment key="first" at={contact.first_seen_at} />],
            [text.side.created, <Moment key="created" at={contact.created_at} />],
            [text.side.createdBy, valueWords('creation_source', contact.creation_source)],
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

const NAMES_OF_GROUPS = {
  person: ['firstname', 'lastname', 'email', 'phone', 'mobilephone', 'jobtitle', 'company', 'website'],
  stage: ['lifecyclestage', 'lead_status', 'lead_source', 'plan'],
  place: ['address', 'city', 'state', 'zip', 'postal_code', 'country', 'timezone', 'language'],
  social: ['linkedin_url', 'social_profile_url', 'twitter', 'twitter_url', 'facebook_url', 'github_url'],
  origin: [
    'first_referrer',
    'first_landing_page',
    'first_utm_source',
    'first_utm_medium',
    'first_utm_campaign',
    'first_utm_term',
    'first_utm_content',
  ],
} as const

/** The usual properties of a contact, in groups; all others come after them. */
const PROPERTY_GROUPS: { label: string; names: readonly string[] }[] = Object.entries(NAMES_OF_GROUPS).map(
  ([group, names]) => ({ label: text.propertyGroups[group as keyof typeof NAMES_OF_GROUPS], names }),
)
