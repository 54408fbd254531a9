import { Button, Group, Text } from '@mantine/core'
import { type Icon, IconDownload, IconFilterPlus, IconRobot, IconUsers } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { urlOf } from '../api/client.ts'
import type { SegmentFilter } from '../api/types.ts'
import { filterParam } from '../filters/filter-text.ts'
import { SaveAsSegment } from '../records/save-as-segment.tsx'
import { useIsAtLeast, useMay } from '../session/may.ts'
import { ButtonLink } from '../ui/link.tsx'
import { text } from './text.ts'

const words = text.people
/** The columns of the file. */
const EXPORTED = 'contact_id,email,firstname,lastname,company,jobtitle,lifecyclestage,created_at'

/** What happens to the segment that is saved: its page opens, which is a list of its contacts too, or an agent gets it. */
type Saving = 'segment' | 'list' | 'agent'

/** What can be done with the people behind a number. */
export function PeopleActions({ filter }: { filter: SegmentFilter }) {
  const router = useRouter()
  const json = JSON.stringify(filter)
  const inUrl = filterParam(json)
  const maySave = useMay('segments:write')
  const mayStart = useIsAtLeast('admin')
  const [saving, setSaving] = useState<Saving | null>(null)
  const canPass = inUrl !== undefined || maySave
  return (
    <>
      <Group gap="xs">
        {canPass ? (
          <PassButton to="/contacts" filter={inUrl} icon={IconUsers} onTooLong={() => setSaving('list')}>
            {words.openList}
          </PassButton>
        ) : null}
        {maySave ? (
          <Button {...LOOK} leftSection={<IconFilterPlus size={14} aria-hidden />} onClick={() => setSaving('segment')}>
            {words.createSegment}
          </Button>
        ) : null}
        {canPass && mayStart ? (
          <PassButton to="/agents/new" filter={inUrl} icon={IconRobot} onTooLong={() => setSaving('agent')}>
            {words.startAgent}
          </PassButton>
        ) : null}
        <Button
          {...LOOK}
          component="a"
          href={urlOf('exportContacts', { filter: json, columns: EXPORTED })}
          download
          leftSection={<IconDownload size={14} aria-hidden />}
          aria-label={words.downloadLabel}
        >
          {words.download}
        </Button>
      </Group>
      {canPass ? null : (
        <Text size="sm" c="dimmed">
          {words.tooLongToKeep}
        </Text>
      )}
      {saving === null ? null : (
        <SaveAsSegment
          filter={filter}
          description={words.segment}
          omitted={saving === 'segment' ? undefined : words.tooLong}
          onClose={() => setSaving(null)}
          {...(saving === 'agent'
            ? { onSaved: (segment: string) => router.navigate({ to: '/agents/new', search: { segment } }) }
            : {})}
        />
      )}
    </>
  )
}

interface PassButtonProps {
  to: '/contacts' | '/agents/new'
  /** Undefined if it is too long for a URL: then the people have to become a segment first. */
  filter: string | undefined
  icon: Icon
  onTooLong: () => void
  children: string
}

/** Passes a filter to another page, in its URL. */
function PassButton({ to, filter, icon: PassIcon, onTooLong, children }: PassButtonProps) {
  const look = { ...LOOK, leftSection: <PassIcon size={14} aria-hidden /> }
  if (filter === undefined) {
    return (
      <Button {...look} onClick={onTooLong}>
        {children}
      </Button>
    )
  }
  return (
    <ButtonLink {...look} to={to} search={{ filter }}>
      {children}
    </ButtonLink>
  )
}

const LOOK = { variant: 'default', size: 'xs' } as const
