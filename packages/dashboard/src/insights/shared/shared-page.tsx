import { Group, Stack, Text, Title } from '@mantine/core'
import { IconLinkOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { formatMoment } from '../../ui/format.ts'
import { useTitle } from '../../ui/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx'
import { Foreign } from '../../ui/text.tsx'
import { type AnsweredTile, AnsweredTiles } from '../dashboards/answered-tiles.tsx'
import { PeopleAreHidden } from '../people-panel.tsx'
import { rangeWords } from '../summary.ts'
import { named, SharedAnswer } from './shared-answer.tsx'
import classes from './shared-page.module.css'
import { type SharedReport, type SharedTile, type SharedView, sharedQuery } from './shared-query.ts'
import { text } from './text.ts'

const words = text.page
const route = getRouteApi('/shared/$token')

/** A report or a dashboard for people without an account, who have its link. */
export function SharedPage() {
  const { token } = route.useParams()
  const { data, error, refetch } = useQuery(sharedQuery(token))
  // A link that was deleted meanwhile shows nothing any more.
  const isGone = error instanceof ApiError && error.status === 404
  useTitle(isGone ? words.gone.title : (data?.name ?? words.title))
  return (
    <main className={classes.page}>
      <div className={classes.content}>
        {isGone ? (
          <EmptyState icon={IconLinkOff} title={words.gone.title} order={1}>
            {words.gone.hint}
          </EmptyState>
        ) : null}
        {!isGone && data ? <View view={data} /> : null}
        {!isGone && !data && error ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!data && !error ? <LoadingState lines={10} label={words.loading} /> : null}
      </div>
    </main>
  )
}

function View({ view: { name, kind, answered_at: at, tiles } }: { view: SharedView }) {
  const reports = tiles.flatMap(({ report }) => report ?? [])
  return (
    <PeopleAreHidden value={true}>
      <header className={classes.head}>
        <Title order={1}>
          <Foreign max={120}>{name}</Foreign>
        </Title>
        <Text size="sm" c="dimmed">
          {[...(kind === 'report' ? reports.map(rangeOf) : []), words.asOf(formatMoment(at))].join(' · ')}
        </Text>
        {reports.some(({ is_filtered: isPartial }) => isPartial) ? (
          <Text size="sm" c="dimmed">
            {words.partial}
          </Text>
        ) : null}
      </header>
      {kind === 'report' ? (
        reports.map((report) => (
          <Stack key={report.name} gap="md">
            <SharedAnswer {...report} />
          </Stack>
        ))
      ) : (
        <AnsweredTiles tiles={tiles.map(toAnswered)} />
      )}
      <Group component="footer" mt="xl">
        <Text size="xs" c="dimmed">
          {words.footer}
        </Text>
      </Group>
    </PeopleAreHidden>
  )
}

function rangeOf({ question }: SharedReport): string {
  return rangeWords(question as Parameters<typeof rangeWords>[0])
}

function toAnswered({ report, ...tile }: SharedTile): AnsweredTile {
  if (!report) return { ...tile, report: null, question: null, answer: null, problem: null }
  const { problem, answer } = report
  return { ...tile, report, question: named(report.question), answer, problem: problem && words.problems[problem] }
}
