import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { queryOf } from '../api/operation.ts'
import type { SegmentFilter } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { isKnown } from '../ui/event-words.ts'
import { DAY_MS } from '../ui/range.ts'
import { Foreign } from '../ui/text.tsx'
import type { Draft, EventMatch, SegmentCondition } from './draft.ts'
import { conditionDraft } from './draft-filter.ts'
import { FilterContext } from './filter-context.tsx'
import { text } from './text.ts'
import { filterWords } from './words.ts'

const SUGGESTED_MAX = 8
const STAGES_SUGGESTED = 2
const PAGES_SUGGESTED = 2
const EVENTS_SUGGESTED = 3
const DAYS = 30

interface SuggestionsProps {
  onChoose: (condition: Draft) => void
}

/** Complete conditions to start with, made of what the workspace has: its most frequent stages, its most viewed pages, its own events. */
export function Suggestions({ onChoose }: SuggestionsProps) {
  const { filtered: entity, fields: properties } = useContext(FilterContext)
  const hasEvents = useMay('events:read') && entity === 'contacts'
  const { data: types } = useQuery({ ...queryOf('listEventTypes'), enabled: hasEvents })
  const { data: overview } = useQuery({ ...queryOf('getOverview', lastDays()), enabled: hasEvents })
  const { data: stages } = useQuery({
    ...queryOf('suggestSegmentValues', { property: 'lifecyclestage', q: '' }),
    enabled: entity === 'contacts',
  })
  const labels = new Map(properties.map(({ name, label }) => [name, label]))
  const pages = overview?.top_pages.map(({ url_path: path }) => path).filter((path) => path.length > 1) ?? []
  const own = types?.types.filter((type) => !isKnown(type)) ?? []
  const conditions: SegmentCondition[] = [
    ...(stages?.values ?? [])
      .slice(0, STAGES_SUGGESTED)
      .map(({ value }) => ({ property: 'lifecyclestage', operator: 'equals' as const, value })),
    ...pages.slice(0, PAGES_SUGGESTED).map((path) => did({ type: 'page_view', url_contains: path, within_days: DAYS })),
    ...own.slice(0, EVENTS_SUGGESTED).map((type) => did({ type, within_days: DAYS })),
    ...(properties.some(({ name }) => name === 'created_at')
      ? [{ property: 'created_at', operator: 'within_days' as const, value: 7 }]
      : []),
    ...(properties.some(({ name }) => name === 'company')
      ? [{ property: 'company', operator: 'is_not_set' as const }]
      : []),
  ]
  if (conditions.length === 0) return null
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {text.builder.startWith}
      </Text>
      <Group gap={6} role="group" aria-label={text.builder.startWith}>
        {conditions.slice(0, SUGGESTED_MAX).map((condition) => (
          <Button
            key={JSON.stringify(condition)}
            variant="default"
            size="compact-sm"
            radius="xl"
            fw={400}
            onClick={() => onChoose(conditionDraft(condition))}
          >
            <Foreign max={90}>
              {filterWords({ match: 'all', conditions: [condition] } as SegmentFilter, { labels })}
            </Foreign>
          </Button>
        ))}
      </Group>
    </div>
  )
}

const did = (event: EventMatch): SegmentCondition => ({ event, operator: 'did' })

/** Whole days, so that the figures of the home page need not be read again. */
function lastDays(): { from: string; to: string } {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  return { from: day(Date.now() - (DAYS - 1) * DAY_MS), to: day(Date.now()) }
}
