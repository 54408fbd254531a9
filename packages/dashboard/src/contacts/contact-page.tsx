import { Alert, Badge, Box, Group, Stack, Tabs, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { contactName } from '../records/contact-name.ts'
import { AnchorLink } from '../ui/link.tsx'
import { MovableContent, MovablePlace, useSide } from '../ui/movable.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { NotFoundPage, PendingPage } from '../ui/page-states.tsx'
import { PersonAvatar } from '../ui/person-avatar.tsx'
import { valueWords } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import { Timeline } from '../ui/timeline.tsx'
import { AgentActions } from './agent-actions.tsx'
import { ContactActions } from './contact-actions.tsx'
import classes from './contact-page.module.css'
import { contactQuery } from './contact-search.ts'
import { ContactSide } from './contact-side.tsx'
import { Conversations } from './conversations.tsx'
import { EnrichmentCard } from './enrichment-card.tsx'
import { useMergeLines } from './merges.tsx'
import { Notes, notesQuery } from './notes.tsx'
import { Overview } from './overview.tsx'
import { SourceTable } from './source-table.tsx'
import { text } from './text.ts'
import { MergedNotice, MergedPage } from './unmerge.tsx'

const route = getRouteApi('/shell/contacts/$contactId')

/** One contact: timeline, properties, notes, conversations, sources and agent actions. */
export function ContactPage() {
  const { contactId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const merges = useMergeLines(contactId)
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
  const [notesAsked, setNotesAsked] = useState(0)
  if (error instanceof ApiError && error.status === 404) {
    const survivorId = error.details.find(({ path }) => path === 'contact_id')?.message
    const isMerged = error.code === 'contact_merged' && survivorId !== undefined
    return isMerged ? <MergedPage contactId={contactId} survivorId={survivorId} /> : <NotFoundPage />
  }
  if (!data) return <PendingPage title={text.one} error={error} onRetry={refetch} />
  const { contact, unified_profile: profile } = data
  const name = contactName(contact)
  const conflicts = Object.values(profile.profile).filter(({ has_conflict }) => has_conflict).length
  const openTab = (next: string | null) =>
    navigate({ search: { tab: TABS.find((value) => value === next) }, replace: true })
  return (
    <>
      <PageHeader
        title={
          <Group gap="sm" wrap="nowrap">
            <PersonAvatar name={name} size={40} />
            <Foreign max={200}>{name}</Foreign>
          </Group>
        }
        documentTitle={name.slice(0, 200)}
        breadcrumb={
          <AnchorLink size="sm" to="/contacts">
            {text.title}
          </AnchorLink>
        }
        description={<Subtitle contact={contact} />}
        actions={
          <ContactActions
            contact={contact}
            onNote={() => {
              setNotesAsked(notesAsked + 1)
              void openTab('notes')
            }}
          />
        }
      />
      {search.merged ? (
        <MergedNotice
          mergedId={search.merged}
          onClose={() => navigate({ search: (before) => ({ ...before, merged: undefined }), replace: true })}
        />
      ) : null}
      {contact.consent ? (
        <Alert color="orange" mb="md" role="note">
          <Text size="sm">{text.page.notWrittenTo(contact.consent)}</Text>
        </Alert>
      ) : null}
      <Overview contact={contact} />
      <MovableContent of={side}>
        <ContactSide key={contactId} contact={contact} />
      </MovableContent>
      <Box className={classes.columns}>
        {isNarrow ? null : <MovablePlace of={side} />}
        <Stack miw={0}>
          <Tabs value={tab} onChange={openTab} keepMounted={false}>
            <Tabs.List className={classes.tabs} aria-label={text.page.about} ref={tabs}>
              <Tabs.Tab value="timeline">{text.page.tabs.timeline}</Tabs.Tab>
              {isNarrow ? <Tabs.Tab value="details">{text.page.tabs.details}</Tabs.Tab> : null}
              <Tabs.Tab value="notes" rightSection={<Count value={noteCount ?? contact.notes.length} />}>
                {text.page.tabs.notes}
              </Tabs.Tab>
              <Tabs.Tab value="conversations">{text.page.tabs.conversations}</Tabs.Tab>
              <Tabs.Tab
                value="profile"
                rightSection={conflicts > 0 ? <Badge color="orange">{text.page.conflicts(conflicts)}</Badge> : null}
              >
                {text.page.tabs.profile}
              </Tabs.Tab>
              <Tabs.Tab value="actions">{text.page.tabs.actions}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="timeline" pt="md">
              <Timeline
                subject={{ contactId }}
                others={merges}
                search={search}
                onSearch={(next) => navigate({ search: { tab: 'timeline', ...next }, replace: true })}
              />
            </Tabs.Panel>
            <Tabs.Panel value="details" pt="md">
              <MovablePlace of={side} />
            </Tabs.Panel>
            <Tabs.Panel value="notes" pt="md">
              <Notes contactId={contactId} asked={notesAsked} />
            </Tabs.Panel>
            <Tabs.Panel value="conversations" pt="md">
              <Conversations contactId={contactId} />
            </Tabs.Panel>
            <Tabs.Panel value="profile" pt="md">
              <Stack gap="md">
                <SourceTable profile={profile} contact={contact} />
                <EnrichmentCard contactId={contactId} />
              </Stack>
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
  const [title, company, stage, city, country] = ['jobtitle', 'company', 'lifecyclestage', 'city', 'country'].map(
    (key) => valueWords(key, properties[key]),
  )
  const place = [city, country].filter(Boolean).join(', ')
  const work = title && company ? text.page.titleAt(title, company) : title || company
  return (
    <Group gap="xs">
      {work ? <Foreign max={160}>{work}</Foreign> : null}
      {work && place ? <span aria-hidden>·</span> : null}
      {place ? <Foreign max={100}>{place}</Foreign> : null}
      {stage ? <Badge>{stage.slice(0, 40)}</Badge> : null}
    </Group>
  )
}
