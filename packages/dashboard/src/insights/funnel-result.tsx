import { Card, Group, Table, Text } from '@mantine/core'
import { IconArrowDown } from '@tabler/icons-react'
import type { FunnelGroup, FunnelStep } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { formatShare } from './axis.ts'
import { saveCsv } from './csv.ts'
import type { FunnelQuestion } from './funnel-question.ts'
import classes from './funnel-result.module.css'
import { droppedAt, type FunnelRow, wentOn } from './funnel-rows.ts'
import { PeopleFigure, useShowPeople, WithPeople } from './people-panel.tsx'
import { DownloadButton, PictureButton, ResultHeader } from './result-header.tsx'
import { funnelSummary } from './summary.ts'
import { text } from './text.ts'
import { meantName, valueName } from './trend-rows.ts'

const words = text.funnel

/** The steps of a funnel as bars, and those of each value that it is broken down by as a table. */
export function FunnelResult({ question, answer }: Answered<'insightFunnel'>) {
  const names = namesIn(question)
  const rows = rowsOf(question, answer)
  return (
    <WithPeople kind="funnel" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.headings[question.count_by ?? 'people']}>
          <PictureButton
            fileName={words.fileName}
            summary={funnelSummary(question)}
            draw={async (width) =>
              (await import('./funnel-drawing.tsx')).funnelDrawing(stepsIn({ question, answer }), width)
            }
          />
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(names, rows), answer.sample)} />
        </ResultHeader>
        <Steps question={question} answer={answer} />
      </Card>
      {answer.groups ? (
        <Card p={0}>
          <Groups names={names} rows={rows} />
        </Card>
      ) : null}
    </WithPeople>
  )
}

function namesIn({ steps }: FunnelQuestion): string[] {
  return steps.map((step) => step.label ?? meantName(step))
}

function stepsIn({ question, answer }: Answered<'insightFunnel'>): FunnelRow[] {
  const names = namesIn(question)
  return answer.steps.map((step, index) => ({
    name: names[index] ?? '',
    step,
    before: answer.compare?.steps[index],
  }))
}

/** A bar for each step, with its figures. */
export function Steps(answered: Answered<'insightFunnel'>) {
  return (
    <ol className={classes.steps}>
      {stepsIn(answered).map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
        <li key={index}>
          <Step row={row} index={index} dropped={droppedAt(answered.answer.steps, index)} />
        </li>
      ))}
    </ol>
  )
}

/** The steps of all, and of each value, as a table. */
export function StepsTable({ question, answer }: Answered<'insightFunnel'>) {
  return <Groups names={namesIn(question)} rows={rowsOf(question, answer)} />
}

interface StepProps {
  row: FunnelRow
  index: number
  /** How many went no further. */
  dropped: number
}

function Step({ row: { name, step, before }, index, dropped }: StepProps) {
  const went = wentOn(step, index)
  const at = { step: index + 1 }
  return (
    <>
      {went === '' ? null : (
        <Group gap={6} mb="xs" wrap="nowrap" c="dimmed">
          <IconArrowDown size={14} aria-hidden />
          <Text size="sm">{went}</Text>
        </Group>
      )}
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={600} truncate>
          {words.position(index + 1)} <Foreign max={120}>{name}</Foreign>
        </Text>
        <Text size="sm" fw={600} className={classes.figure}>
          <PeopleFigure name={name} at={at} value={step.count}>
            {formatNumber(step.count)}
          </PeopleFigure>{' '}
          {words.share(formatShare(step.from_first))}
        </Text>
      </Group>
      <Bar name={name} step={step} index={index} dropped={dropped} />
      {dropped > 0 ? (
        <Text size="xs" c="dimmed">
          <PeopleFigure name={words.leftAfter(name)} at={{ ...at, dropped: true }} value={dropped}>
            {words.left(formatNumber(dropped))}
          </PeopleFigure>
        </Text>
      ) : null}
      {before ? (
        <>
          <div className={classes.track} data-before aria-hidden>
            <div className={classes.bar} style={{ width: percent(before.from_first ?? 0) }} />
          </div>
          <Text size="xs" c="dimmed">
            {words.before(formatNumber(before.count), formatShare(before.from_first))}
          </Text>
        </>
      ) : null}
    </>
  )
}

interface BarProps extends Omit<StepProps, 'row'> {
  name: string
  step: FunnelStep
}

/** Those who reached a step, the part that went no further in a lighter color. A click opens them, as their figures do. */
function Bar({ name, step: { count, from_first: share }, index, dropped }: BarProps) {
  const show = useShowPeople()
  const at = { step: index + 1 }
  const parts = [
    { name, at, part: count - dropped },
    { name: words.leftAfter(name), at: { ...at, dropped: true }, part: dropped },
  ]
  return (
    <div className={classes.track} aria-hidden>
      {parts.map((each) => {
        const look = {
          className: classes.bar,
          'data-dropped': each.at !== at,
          style: { width: percent(count === 0 ? 0 : ((share ?? 0) * each.part) / count) },
        }
        if (show === null || each.part <= 0) return <div key={each.name} {...look} />
        return (
          <button
            key={each.name}
            type="button"
            tabIndex={-1}
            title={words.barHint(each.name, formatNumber(each.at === at ? count : dropped))}
            onClick={() => show({ name: each.name, at: each.at })}
            {...look}
          />
        )
      })}
    </div>
  )
}

function percent(part: number): string {
  return `${part * 100}%`
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
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
