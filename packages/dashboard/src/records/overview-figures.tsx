import { Card, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Engagement, TopPage } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import classes from './overview-figures.module.css'
import { text } from './text.ts'

const words = text.overview
const PAGES_SHOWN = 3

interface EngagedProps {
  /** The query of a contact's or a company's engagement. */
  reading: {
    data: { engagement: Engagement; top_pages: TopPage[] } | undefined
    error: unknown
    refetch: () => unknown
  }
  /** What else matters. */
  children: ReactNode
}

/** What matters about a person or a company, at a glance: when they were here, how often and for what, and more. */
export function Engaged({ reading: { data, error, refetch }, children }: EngagedProps) {
  const unknown = error ? '–' : '…'
  const at = data?.engagement.last_seen_at
  return (
    <Card component="section" aria-label={words.label} mb="md">
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="md" verticalSpacing="sm">
        <Figure label={words.lastSeen}>{at ? <Moment at={at} /> : data ? words.never : unknown}</Figure>
        <Figure label={words.visits} hint={data ? words.pageViews(data.engagement.page_views) : null}>
          {data ? formatNumber(data.engagement.visits) : unknown}
        </Figure>
        <Figure label={words.pages}>
          <FavoritePages pages={data?.top_pages} unknown={unknown} />
        </Figure>
        {children}
      </SimpleGrid>
    </Card>
  )
}

/** One thing that matters, under its name. */
export function Figure({ label, hint = null, children }: { label: string; hint?: string | null; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={550} component="div">
        {children}
      </Text>
      {hint === null ? null : (
        <Text size="xs" c="dimmed" truncate title={hint}>
          <Foreign max={80}>{hint}</Foreign>
        </Text>
      )}
    </div>
  )
}

function FavoritePages({ pages, unknown }: { pages: TopPage[] | undefined; unknown: string }) {
  if (pages === undefined || pages.length === 0) {
    return (
      <Text span inherit c="dimmed">
        {pages ? words.noPages : unknown}
      </Text>
    )
  }
  return (
    <Stack component="ol" gap={0} m={0} p={0} className={classes.list}>
      {pages.slice(0, PAGES_SHOWN).map(({ url_path: path, title, views }) => (
        <Text key={path} component="li" size="sm" truncate title={path.slice(0, 300)}>
          <Foreign max={60}>{title ?? path}</Foreign>
          <Text span inherit c="dimmed">
            {words.times(views)}
          </Text>
        </Text>
      ))}
    </Stack>
  )
}
