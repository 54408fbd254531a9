import { Card, Group, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCircleCheck, IconInbox } from '@tabler/icons-react'
import { EventsLink } from '../events/events-link.tsx'
import { BarList } from '../ui/bar-list.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import type { Overview } from './overview.ts'
import { text } from './text.ts'

interface RankingProps {
  overview: Overview
  /** The first and the last counted day. */
  days: { from: string; to: string }
}

export function TopPages({ overview, days }: RankingProps) {
  return (
    <Card>
      <RankingHead title={text.pages.title} unit={text.pages.unit} />
      <BarList
        unit={text.pages.unit}
        empty={text.pages.empty}
        rows={overview.top_pages.map(({ url_path, views }) => ({
          key: url_path,
          label: (
            <EventsLink search={{ ...viewsOf(days), url_path }}>
              <Foreign max={120}>{url_path}</Foreign>
            </EventsLink>
          ),
          value: views,
        }))}
      />
    </Card>
  )
}

export function TopSources({ overview, days }: RankingProps) {
  return (
    <Card>
      <RankingHead title={text.sources.title} unit={text.sources.unit} />
      <BarList
        unit={text.sources.unit}
        empty={text.sources.empty}
        rows={overview.sources.map(({ source, visitors }) => ({
          key: source ?? '',
          label:
            source === null ? (
              text.sources.direct
            ) : (
              <EventsLink search={{ ...viewsOf(days), referring_domain: source }}>
                <Foreign max={120}>{source}</Foreign>
              </EventsLink>
            ),
          value: visitors,
        }))}
      />
    </Card>
  )
}

/** The events that the rankings count, as a filter of the list of events. */
function viewsOf({ from, to }: RankingProps['days']) {
  return { event_type: 'page_view', is_bot: false, date_after: from, date_before: to }
}

/** The title, and the unit above the numbers; for screen readers, each row names the unit. */
function RankingHead({ title, unit }: { title: string; unit: string }) {
  return (
    <Group justify="space-between" mb="sm" wrap="nowrap">
      <Title order={2} size="h5">
        {title}
      </Title>
      <Text size="xs" c="dimmed" pe={8} aria-hidden>
        {unit}
      </Text>
    </Group>
  )
}

/** The number of actions that wait for approval. */
export function WaitingForApproval({ count }: { count: number }) {
  return (
    <Card>
      <Group wrap="nowrap">
        <ThemeIcon size={40} radius="md" variant="light" color={count > 0 ? 'ink' : 'teal'} aria-hidden>
          {count > 0 ? <IconInbox size={22} stroke={1.7} /> : <IconCircleCheck size={22} stroke={1.7} />}
        </ThemeIcon>
        <div>
          <Title order={2} size="h5">
            {text.approvals.waiting(count)}
          </Title>
          {count > 0 ? (
            <AnchorLink size="sm" to={APPROVALS}>
              {text.approvals.review}
            </AnchorLink>
          ) : (
            <Text size="sm" c="dimmed">
              {text.approvals.none}
            </Text>
          )}
        </div>
      </Group>
    </Card>
  )
}

const APPROVALS: string = '/approvals'
