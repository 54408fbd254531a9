import { Card, Group, Table, Text } from '@mantine/core'
import type { FunnelGroup, FunnelStep } from '../api/types.ts'
import { formatDuration, formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { formatShare } from './axis.ts'
import { saveCsv } from './csv.ts'
import type { FunnelQuestion } from './funnel-question.ts'
import classes from './funnel-result.module.css'
import { PeopleFigure, WithPeople } from './people-panel.tsx'
import { DownloadButton, ResultHeader } from './result-header.tsx'
import { text } from './text.ts'
import { meantName, valueName } from './trend-rows.ts'

const words = text.funnel

/** The steps of a funnel as bars, and those of each value that it is broken down by as a table. */
export function FunnelResult({ question, answer }: Answered<'insightFunnel'>) {
  const names = question.steps.map((step) => step.label ?? meantName(step))
  const unit = words.counted[question.count_by ?? 'people']
  const rows = rowsOf(question, answer)
  return (
    <WithPeople kind="funnel" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.heading(unit)}>
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(names, rows), answer.sample)} />
        </ResultHeader>
        <ol className={classes.steps}>
          {answer.steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
            <li key={index}>
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <Text size="sm" fw={600} truncate>
                  {words.position(index + 1)} <Foreign max={120}>{names[index] ?? ''}</Foreign>
                </Text>
                <Text size="sm" fw={600} className={classes.figure}>
                  <PeopleFigure name={names[index] ?? ''} at={{ step: index + 1 }} value={step.count}>
                    {formatNumber(step.count)}
                  </PeopleFigure>{' '}
                  {words.share(formatShare(step.from_first))}
                </Text>
              </Group>
              <Bar share={step.from_first} />
              {answer.compare?.steps[index] ? <Bar share={answer.compare.steps[index].from_first} isBefore /> : null}
              <Text size="xs" c="dimmed">
                {[...factsOf(step), ...comparedWith(answer.compare?.steps[index])].join(' · ')}
              </Text>
              <Dropped name={names[index] ?? ''} step={index + 1} count={droppedAt(answer.steps, index)} />
            </li>
          ))}
        </ol>
      </Card>
      {answer.groups ? <Groups names={names} rows={rows} /> : null}
    </WithPeople>
  )
}

function Bar({ share, isBefore = false }: { share: number | null; isBefore?: boolean }) {
  return (
    <div className={classes.track} data-before={isBefore || undefined} aria-hidden>
      <div className={classes.bar} style={{ width: `${(share ?? 0) * 100}%` }} />
    </div>
  )
}

/** How many reached a step and not the next one. */
function droppedAt(steps: readonly FunnelStep[], index: number): number {
  const [step, next] = [steps[index], steps[index + 1]]
  return step && next ? step.count - next.count : 0
}

function Dropped({ name, step, count }: { name: string; step: number; count: number }) {
  if (count <= 0) return null
  return (
    <Text size="xs" c="dimmed">
      <PeopleFigure name={words.leftAfter(name)} at={{ step, dropped: true }} value={count}>
        {words.left(formatNumber(count))}
      </PeopleFigure>
    </Text>
  )
}

/** What is told of a step below its bar. */
function factsOf(step: FunnelStep): string[] {
  const { from_previous, median_seconds } = step
  // The first step has no time before it.
  const isFirst = median_seconds === null && from_previous === 1
  return [
    ...(isFirst ? [] : [words.ofPrevious(formatShare(from_previous))]),
    ...(median_seconds === null ? [] : [words.median(formatDuration(median_seconds) || words.underSecond)]),
  ]
}

function comparedWith(before: FunnelStep | undefined): string[] {
  return before ? [words.before(formatNumber(before.count), formatShare(before.from_first))] : []
}

interface Row {
  name: string
  /** What names its numbers, but for the step; undefined for all other values together. */
  at: { breakdown?: NonNullable<FunnelGroup['breakdown']> } | undefined
  steps: FunnelStep[]
}

/** All steps, and those of each value. */
function rowsOf(
  { breakdown = [] }: FunnelQuestion,
  { steps, groups = [] }: Answered<'insightFunnel'>['answer'],
): Row[] {
  return [
    { name: words.all, at: {}, steps },
    ...groups.map(({ breakdown: values, steps: ofValue }) => ({
      name: values ? values.map((value, at) => valueName(breakdown[at] ?? '', value)).join(' · ') : text.trend.others,
      at: values ? { breakdown: values } : undefined,
      steps: ofValue,
    })),
  ]
}

function Groups({ names, rows }: { names: readonly string[]; rows: readonly Row[] }) {
  return (
    <Card p={0}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={classes.scroll} aria-label={words.groups} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{words.value}</Table.Th>
              {names.map((name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
                <Table.Th key={index} scope="col" ta="right">
                  {words.position(index + 1)} <Foreign max={60}>{name}</Foreign>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ name, at, steps }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two values may be written alike
              <Table.Tr key={place}>
                <Table.Th scope="row" fw={place === 0 ? 600 : 400}>
                  <Foreign max={120}>{name}</Foreign>
                </Table.Th>
                {steps.map(({ count, from_first }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
                  <Table.Td key={index} ta="right">
                    <PeopleFigure
                      name={words.stepOf(names[index] ?? '', name)}
                      at={at && { ...at, step: index + 1 }}
                      value={count}
                    >
                      {formatNumber(count)}
                    </PeopleFigure>{' '}
                    <Text span size="xs" c="dimmed">
                      {formatShare(from_first)}
                    </Text>
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </Card>
  )
}

/** A line for each step of each value. */
function csvOf(names: readonly string[], rows: readonly Row[]): (string | number | null)[][] {
  return [
    words.columns,
    ...rows.flatMap(({ name, steps }) =>
      steps.map(({ count, from_first, from_previous, median_seconds }, index) => [
        name,
        index + 1,
        names[index] ?? '',
        count,
        from_first,
        from_previous,
        median_seconds,
      ]),
    ),
  ]
}
