import { Card, Group, Loader, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { Entity, SegmentFilter } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ErrorState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { Warnings } from '../ui/warnings.tsx'
import { companyName } from './company-columns.tsx'
import { ContactLinks } from './contact-links.tsx'
import { text } from './text.ts'

const words = text.preview

/** Long enough to finish a word, short enough to feel immediate. */
const PAUSE_MS = 300

interface PreviewPanelProps {
  entity?: Entity
  filter: SegmentFilter
  unfinished: number
}

/** The contacts or companies that match the filter as it is edited. */
export function PreviewPanel({ entity = 'contacts', filter, unfinished }: PreviewPanelProps) {
  const [debounced] = useDebouncedValue(filter, PAUSE_MS)
  const { data, error, isFetching, refetch } = useQuery({
    ...queryOf('previewSegment', { entity, filter: debounced }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  // It says nothing about the filter itself.
  const isTooSlow = error instanceof ApiError && error.code === 'preview_too_slow'
  return (
    <Card aria-live="polite" aria-busy={isFetching}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.title[entity]}
        </Title>
        {isFetching ? <Loader size="xs" role="status" aria-label={words.counting} /> : null}
      </Group>
      {error && isTooSlow ? (
        <Text size="sm" c="dimmed">
          {messageOf(error)}
        </Text>
      ) : null}
      {error && !isTooSlow ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && data ? (
        <Stack gap="xs">
          <div>
            <Text fz={32} fw={650} lh={1.1}>
              {formatNumber(data.count)}
            </Text>
            <Text size="sm" c="dimmed">
              {words.counted(entity, data.count, data.took_ms)}
            </Text>
          </div>
          <Warnings of={data.warnings} />
          {data.companies.length > 0 ? (
            <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none' }}>
              {data.companies.map((company) => (
                <li key={company.company_id}>
                  <AnchorLink size="sm" to="/companies/$companyId" params={{ companyId: company.company_id }}>
                    <Foreign max={80}>{companyName(company)}</Foreign>
                  </AnchorLink>
                </li>
              ))}
            </Stack>
          ) : null}
          {data.sample.length > 0 ? <ContactLinks contacts={data.sample} /> : null}
        </Stack>
      ) : null}
      {unfinished > 0 ? (
        <Text size="sm" c="dimmed" mt="sm">
          {words.incomplete(unfinished)}
        </Text>
      ) : null}
    </Card>
  )
}
