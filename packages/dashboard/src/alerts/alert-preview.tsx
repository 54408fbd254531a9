import { Card, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Report } from '../api/types.ts'
import { formatShare } from '../insights/axis.ts'
import { shortInterval, unitOf } from '../insights/interval-keys.ts'
import { LineChart } from '../insights/line-chart.tsx'
import type { Interval } from '../insights/question.ts'
import { SampleMark } from '../insights/sample.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { type AlertDraft, isShare, watchedOf } from './alert-draft.ts'
import { text } from './text.ts'

const words = text.preview
/** Long enough to finish a number. */
const PAUSE_MS = 400
const TOLD_MAX = 10

/** The number of the past 90 days with the limit, and when an alert would have fired. */
export function AlertPreview({ draft, report }: { draft: AlertDraft; report: Report | undefined }) {
  return (
    <Card component="section" aria-label={words.heading}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {words.heading}
        </Title>
        {report ? <SampleMark answer={report.question} /> : null}
        {report ? <Numbers draft={draft} report={report} /> : <Text c="dimmed">{text.form.noReport}</Text>}
      </Stack>
    </Card>
  )
}

function Numbers({ draft, report }: { draft: AlertDraft; report: Report }) {
  // Without a limit, the numbers alone help to choose one.
  const hasLimit = draft.limit.trim() !== ''
  const watched = watchedOf(hasLimit ? draft : { ...draft, operator: 'above', limit: '0' }, report)
  const [settled] = useDebouncedValue(JSON.stringify(watched), PAUSE_MS)
  const asked = JSON.parse(settled) as typeof watched
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...queryOf('previewAlert', asked ?? { report_id: '', at: {}, condition: { operator: 'above', value: 0 } }),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
  })
  if (watched === null) return <Text c="dimmed">{report.kind === 'paths' ? text.form.noFollow : words.enterLimit}</Text>
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (!data) {
    return (
      <>
        {report.kind === 'trend' ? null : <Text c="dimmed">{words.slow}</Text>}
        <LoadingState lines={8} label={words.loading} />
      </>
    )
  }
  const keys = data.points.map(({ interval }) => interval)
  const unit = unitOf(keys[0] ?? '')
  const fired = data.points.flatMap(({ fires }, index) => (fires && hasLimit ? [index] : []))
  const isAbsolute = hasLimit && draft.operator !== 'changed_by'
  return (
    <Stack gap="sm" aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
      <LineChart
        label={words.chart}
        unit={unit}
        keys={keys}
        lines={[{ key: 'number', name: words.number, color: 0, points: data.points.map(({ value }) => value) }]}
        limit={isAbsolute ? watched.condition.value : undefined}
        marks={{ at: new Set(fired), label: words.fires }}
        format={isShare(report.kind, draft.figure) ? formatShare : undefined}
      />
      <Text size="sm" role="status">
        {hasLimit
          ? sentenceOf(
              unit,
              fired.map((index) => keys[index] ?? ''),
            )
          : words.enterLimit}
      </Text>
    </Stack>
  )
}

function sentenceOf(unit: Interval, keys: readonly string[]): string {
  if (keys.length === 0) return words.never
  // The newest say most.
  const told = keys.slice(-TOLD_MAX).map((key) => momentWords(unit, key))
  const more = keys.length > TOLD_MAX ? [words.more(keys.length - TOLD_MAX)] : []
  return words.fired(keys.length, [...told.toReversed(), ...more].join(', '))
}

/** An hour with its day. */
function momentWords(unit: Interval, key: string): string {
  return unit === 'hour' ? `${shortInterval('day', key.slice(0, 10))} ${key.slice(11, 16)}` : shortInterval(unit, key)
}
