import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'
import { UnmergeButton } from './unmerge.tsx'

const MERGES_SHOWN = 20

/** The contacts that were merged into this one. The latest merge can be undone here, at any time. */
export function Merges({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery(queryOf('listMerges', { contact_id: contactId, limit: MERGES_SHOWN }))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data || data.merges.length === 0) return null
  return (
    <Card component="section" aria-label={text.merge.list}>
      <Title order={2} size="h5" mb="xs">
        {text.merge.list}
      </Title>
      <Stack gap="sm">
        {data.merges.map(
          ({ contact_id, email, firstname, lastname, merged_at, merged_by: by, can_unmerge: canUndo }) => (
            <div key={contact_id}>
              <Text size="sm">
                <Foreign max={120}>{[firstname, lastname].filter(Boolean).join(' ') || (email ?? contact_id)}</Foreign>
              </Text>
              <Group gap="xs" justify="space-between">
                <Text size="xs" c="dimmed">
                  <Moment at={merged_at} />
                  {by === null ? null : <Foreign max={80}>{text.merge.by(by.name)}</Foreign>}
                </Text>
                {canUndo ? <UnmergeButton mergedId={contact_id} /> : null}
              </Group>
            </div>
          ),
        )}
      </Stack>
    </Card>
  )
}
