import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconGitMerge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Merge } from '../api/types.ts'
import { ErrorState } from '../ui/states.tsx'
import { StoryRow } from '../ui/story-line.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import type { StoryLine } from '../ui/timeline.tsx'
import { text } from './text.ts'
import { UnmergeButton } from './unmerge.tsx'

const mergesQuery = (contact_id: string) => queryOf('listMerges', { contact_id, limit: 20 })

/** The contacts that were merged into this one. The latest merge can be undone here, at any time. */
export function Merges({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery(mergesQuery(contactId))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data || data.merges.length === 0) return null
  return (
    <Card component="section" aria-label={text.merge.list}>
      <Title order={2} size="h5" mb="xs">
        {text.merge.list}
      </Title>
      <Stack gap="sm">
        {data.merges.map((merge) => (
          <div key={merge.contact_id}>
            <Text size="sm">
              <Foreign max={120}>{nameOf(merge)}</Foreign>
            </Text>
            <Group gap="xs" justify="space-between">
              <Text size="xs" c="dimmed">
                <Moment at={merge.merged_at} />
                {merge.merged_by === null ? null : <Foreign max={80}>{text.merge.by(merge.merged_by.name)}</Foreign>}
              </Text>
              {merge.can_unmerge ? <UnmergeButton mergedId={merge.contact_id} /> : null}
            </Group>
          </div>
        ))}
      </Stack>
    </Card>
  )
}

/** The same, as lines of the contact's story. */
export function useMergeLines(contactId: string): StoryLine[] {
  const { data } = useQuery(mergesQuery(contactId))
  return (data?.merges ?? []).map((merge) => ({
    key: `merge ${merge.contact_id}`,
    at: merge.merged_at,
    row: (
      <StoryRow icon={IconGitMerge} at={merge.merged_at} more={text.merge.told(merge.email, merge.merged_by?.name)}>
        <Foreign max={160}>{text.merge.withName(nameOf(merge))}</Foreign>
      </StoryRow>
    ),
  }))
}

function nameOf({ firstname, lastname, email, contact_id }: Merge): string {
  return [firstname, lastname].filter(Boolean).join(' ') || (email ?? contact_id)
}
