import { Card, Group, Table, Text } from '@mantine/core'
import type { FunnelStep } from '../api/types.ts'
import { formatDuration, formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { formatShare } from './axis.ts'
import { saveCsv } from './csv.ts'
import type { FunnelQuestion } from './funnel-question.ts'
import classes from './funnel-result.module.css'
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
    <>
      <Card>
        <ResultHeader heading={words.heading(unit)}>
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(names, rows))} />
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
                  {words.reached(formatNumber(step.count), formatShare(step.from_first))}
                </Text>
              </Group>
              <Bar share={step.from_first} />
              {answer.compare?.steps[index] ? <Bar share={answer.compare.steps[index].from_first} isBefore /> : null}
              <Text size="xs" c="dimmed">
                {[...factsOf(step, answer.steps[index + 1]), ...comparedWith(answer.compare?.steps[index])].join(' · ')}
              </Text>
            </li>
          ))}
        </ol>
      </Card>
      {answer.groups ? <Groups names={names} rows={rows} /> : null}
    </>
  )
}

function Bar({ share, isBefore = false }: { share: number | null; isBefore?: boolean }) {
  return (
    <div className={classes.track} data-before={isBefore || undefined} aria-hidden>
      <div className={classes.bar} style={{ width: `${(share ?? 0) * 100}%` }} />
    </div>
  )
}

/** What is told of a step below its bar. */
function factsOf(step: FunnelStep, next: FunnelStep | undefined): string[] {
  const { from_previous, median_seconds, count } = step
  // The first step has no time before it.
  const isFirst = median_seconds === null && from_previous === 1
  const left = next === undefined || next.count >= count ? [] : [words.left(formatNumber(count - next.count))]
  return [
    ...(isFirst ? [] : [words.ofPrevious(formatShare(from_previous))]),
    ...(median_seconds === null ? [] : [words.median(formatDuration(median_seconds) || words.underSecond)]),
    ...left,
  ]
}

function comparedWith(before: FunnelStep | undefined): string[] {
  return before ? [words.before(formatNumber(before.count), formatShare(before.from_first))] : []
}

interface Row {
  name: string
  steps: FunnelStep[]
}

/** All steps, and those of each value. */
function rowsOf(
  { breakdown = [] }: FunnelQuestion,
  { steps, groups = [] }: Answered<'insightFunnel'>['answer'],
): Row[] {
  return [
    { name: words.all, steps },
    ...groups.map(({ breakdown: values, steps: ofValue }) => ({
      name: values ? values.map((value, at) => valueName(breakdown[at] ?? '', value)).join(' · ') : text.trend.others,
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
            {rows.map(({ name, steps }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two values may be written alike
              <Table.Tr key={place}>
                <Table.Th scope="row" fw={place === 0 ? 600 : 400}>
                  <Foreign max={120}>{name}</Foreign>
                </Table.Th>
                {steps.map(({ count, from_first }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
                  <Table.Td key={index} ta="right">
                    {formatNumber(count)}{' '}
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
