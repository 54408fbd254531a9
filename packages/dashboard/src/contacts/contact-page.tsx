import { Anchor, Badge, Box, Group, Stack, Tabs } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { ApiError } from '../api/client.ts'
import { contactQuery } from '../api/contacts.ts'
import { notesQuery } from '../api/notes.ts'
import { MovableContent, MovablePlace, useSide } from '../ui/movable.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { NotFoundPage } from '../ui/page-states.tsx'
import { propertyText } from '../ui/property-value.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { Timeline } from '../ui/timeline.tsx'
import { AgentActions } from './agent-actions.tsx'
import { ContactMenu } from './contact-menu.tsx'
import { contactName } from './contact-name.ts'
import classes from './contact-page.module.css'
import { ContactSide } from './contact-side.tsx'
import { Conversations } from './conversations.tsx'
import { Notes } from './notes.tsx'
import { SourceTable } from './source-table.tsx'

const route = getRouteApi('/shell/contacts/$contactId')

/** One contact: timeline, properties, notes, conversations, sources and agent actions. */
export function ContactPage() {
  const { contactId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { side, isNarrow } = useSide(() => navigate({ search: { tab: 'details' }, replace: true }))
  const tab = search.tab === 'details' && !isNarrow ? 'timeline' : (search.tab ?? 'timeline')
  const { data, error, refetch } = useQuery(contactQuery(contactId))
  const tabs = useRef<HTMLDivElement>(null)
  const isThere = data !== undefined
  useEffect(() => {
    // If the row of tabs is wider than the screen, scrolls to the current one.
    const current = isThere && tab ? tabs.current?.querySelector('[role=tab][aria-selected=true]') : null
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab, isThere])
  const notes = useInfiniteQuery(notesQuery(contactId))
  const noteCount = notes.data?.pages[0]?.pagination.total_items
  if (error instanceof ApiError && error.status === 404) return <NotFoundPage />
  if (!data) {
    return (
      <>
        <PageHeader title="Contact" />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={10} />}
      </>
    )
  }
  const { contact, unified_profile: profile } = data
  const name = contactName(contact)
  const conflicts = Object.values(profile.profile).filter(({ has_conflict }) => has_conflict).length
  const openTab = (next: string | null) =>
    navigate({ search: { tab: TABS.find((value) => value === next) }, replace: true })
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{name}</Foreign>}
        documentTitle={name.slice(0, 200)}
        breadcrumb={
          <Anchor size="sm" renderRoot={(props) => <Link to="/contacts" {...props} />}>
            Contacts
          </Anchor>
        }
        description={<Subtitle contact={contact} />}
        actions={<ContactMenu contact={contact} />}
      />
      <MovableContent of={side}>
        <ContactSide key={contactId} contact={contact} />
      </MovableContent>
      <Box className={classes.columns}>
        {isNarrow ? null : <MovablePlace of={side} />}
        <Stack miw={0}>
          <Tabs value={tab} onChange={openTab} keepMounted={false}>
            <Tabs.List className={classes.tabs} aria-label="About this contact" ref={tabs}>
              <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
              {isNarrow ? <Tabs.Tab value="details">Details</Tabs.Tab> : null}
              <Tabs.Tab value="notes" rightSection={<Count value={noteCount ?? contact.notes.length} />}>
                Notes
              </Tabs.Tab>
              <Tabs.Tab value="conversations">Conversations</Tabs.Tab>
              <Tabs.Tab
                value="profile"
                rightSection={conflicts > 0 ? <Badge color="orange">{conflicts} in conflict</Badge> : null}
              >
                Sources
              </Tabs.Tab>
              <Tabs.Tab value="actions">Agent actions</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="timeline" pt="md">
              <Timeline
                subject={{ contactId }}
                eventType={search.event_type}
                onEventType={(type) => navigate({ search: { tab: 'timeline', event_type: type }, replace: true })}
              />
            </Tabs.Panel>
            <Tabs.Panel value="details" pt="md">
              <MovablePlace of={side} />
            </Tabs.Panel>
            <Tabs.Panel value="notes" pt="md">
              <Notes contactId={contactId} />
            </Tabs.Panel>
            <Tabs.Panel value="conversations" pt="md">
              <Conversations contactId={contactId} />
            </Tabs.Panel>
            <Tabs.Panel value="profile" pt="md">
              <SourceTable profile={profile} contact={contact} />
            </Tabs.Panel>
            <Tabs.Panel value="actions" pt="md">
              <AgentActions contactId={contactId} />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      </Box>
    </>
  )
}

const TABS = ['timeline', 'details', 'notes', 'conversations', 'profile', 'actions'] as const

function Count({ value }: { value: number }) {
  return value > 0 ? <Badge color="gray">{value}</Badge> : null
}

function Subtitle({ contact: { properties } }: { contact: { properties: Record<string, unknown> } }) {
  const [title, company, stage] = ['jobtitle', 'company', 'lifecyclestage'].map((key) => propertyText(properties[key]))
  const work = [title, company].filter(Boolean).join(' at ')
  return (
    <Group gap="xs">
      {work ? <Foreign max={160}>{work}</Foreign> : null}
      {stage ? <Badge>{stage.slice(0, 40)}</Badge> : null}
    </Group>
  )
}
