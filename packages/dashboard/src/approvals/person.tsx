import { Anchor, Badge, Box, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ACTION_WORDS, personName } from '../agents/action-words.ts'
import { queryOf } from '../api/operation.ts'
import { PersonAvatar } from '../ui/person-avatar.tsx'
import { valueWords } from '../ui/property-value.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'
import type { WaitingAction } from './waiting.ts'

/** Who an action is for: name, work, stage, and when they were last seen. */
export function Person({ action, titleId }: { action: WaitingAction; titleId: string }) {
  const { contact, contact_id: contactId, type } = action
  const { label, icon: Icon, color } = ACTION_WORDS[type]
  const name = personName(contact)
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      <PersonAvatar name={name} size={40} />
      <Box miw={0} flex={1}>
        <Group gap={8}>
          <Text component="h2" id={titleId} fw={600}>
            {contact ? (
              <Anchor
                inherit
                renderRoot={(root) => <Link to="/contacts/$contactId" params={{ contactId }} {...root} />}
              >
                <Foreign max={80}>{name}</Foreign>
              </Anchor>
            ) : (
              name
            )}
          </Text>
          {contact?.lifecyclestage ? (
            <Badge color="gray">{valueWords('lifecyclestage', contact.lifecyclestage).slice(0, 40)}</Badge>
          ) : null}
          <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
            {label}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          <Foreign max={160}>{describe(contact)}</Foreign>
        </Text>
        {contact ? <Seen contactId={contactId} /> : null}
      </Box>
      <Moment at={action.created_at} size="xs" c="dimmed" ta="right" flex="none" />
    </Group>
  )
}

/** How often they were here, and when last. */
function Seen({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery(queryOf('getContactEngagement', { contact_id: contactId }))
  const words = text.preview
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) {
    return (
      <Text size="xs" c="dimmed" role="status" aria-label={words.loading}>
        …
      </Text>
    )
  }
  const { last_seen_at: last, visits, page_views: views } = data.engagement
  return (
    <Text size="xs" c="dimmed">
      {last === null ? (
        words.neverSeen
      ) : (
        <>
          {words.lastSeen}
          <Moment at={last} />
        </>
      )}
      {visits > 0 ? ` · ${words.visits(visits)}` : null}
      {views > 0 ? ` · ${words.pageViews(views)}` : null}
    </Text>
  )
}

function describe(contact: WaitingAction['contact']): string {
  if (contact === null) return ''
  const work = text.preview.worksAs(contact.jobtitle, contact.company)
  return [work, contact.firstname || contact.lastname ? contact.email : null].filter(Boolean).join(' · ')
}
