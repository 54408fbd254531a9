import { Card, SegmentedControl, Table, Text } from '@mantine/core'
import { useState } from 'react'
import type { RetentionCohort } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import type { Answered } from './answer-query.ts'
import { formatShare } from './axis.ts'
import { saveCsv } from './csv.ts'
import { mediumInterval, stateOfInterval } from './interval-keys.ts'
import { PeopleFigure, WithPeople } from './people-panel.tsx'
import type { Interval } from './question.ts'
import { DownloadButton, PictureButton, ResultHeader } from './result-header.tsx'
import classes from './retention-result.module.css'
import { retentionSummary } from './summary.ts'
import { text } from './text.ts'

const words = text.retention
type Shown = 'now' | 'before'

/** The cohorts of a retention as a heat map: darker where more of them came back. */
export function RetentionResult({ question, answer }: Answered<'insightRetention'>) {
  const [shown, setShown] = useState<Shown>('now')
  const unit = question.interval ?? 'day'
  const part = shown === 'before' && answer.compare ? answer.compare : answer
  const isNow = part === answer
  const cohorts = begun(unit, part.cohorts).filter(({ size }) => size > 0)
  return (
    <WithPeople kind="retention" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.heading(unit)}>
          {answer.compare ? (
            <SegmentedControl
              size="xs"
              aria-label={words.period}
              value={shown}
              onChange={(value) => setShown(value === 'before' ? 'before' : 'now')}
              data={words.periods}
            />
          ) : null}
          <PictureButton
            fileName={words.fileName}
            summary={retentionSummary(question)}
            draw={async (width) =>
              (await import('./heat-drawing.tsx')).heatDrawing({ unit, cohorts, average: part.average }, width)
            }
          />
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(unit, part), answer.sample)} />
        </ResultHeader>
        <Cohorts
          unit={unit}
          part={part}
          {...(isNow && answer.compare ? { before: answer.compare } : {})}
          isNow={isNow}
        />
      </Card>
    </WithPeople>
  )
}

type Part = Pick<Answered<'insightRetention'>['answer'], 'cohorts' | 'average'>

interface CohortsProps {
  unit: Interval
  part: Part
  /** That of the compared range. */
  before?: Part
  /** Whether its people can be listed: it is not the period before. */
  isNow: boolean
}

/** A row for each cohort of somebody, and the average above them. */
export function Cohorts({ unit, part, before, isNow }: CohortsProps) {
  const started = begun(unit, part.cohorts)
  const cohorts = started.filter(({ size }) => size > 0)
  const empty = started.length - cohorts.length
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={classes.scroll} aria-label={words.table} tabIndex={0}>
        <Table className={classes.table} verticalSpacing={4} horizontalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{words.cohort}</Table.Th>
              <Table.Th scope="col" ta="right">
                {words.size}
              </Table.Th>
              {part.average.map((_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a column is about
                <Table.Th key={index} scope="col" ta="center">
                  {words.after(unit, index + 1)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Table.Tr>
              <Table.Th scope="row">{words.average}</Table.Th>
              <Table.Td ta="right" fw={600}>
                {formatNumber(part.cohorts.reduce((sum, { size }) => sum + size, 0))}
              </Table.Td>
              {part.average.map((share, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a column is about
                <HeatCell key={index} share={share} isBold />
              ))}
            </Table.Tr>
            {before ? <AverageBefore {...before} /> : null}
            {cohorts.map((cohort) => (
              <CohortRow key={cohort.from} unit={unit} cohort={cohort} isNow={isNow} />
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {empty > 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {words.empty(unit, empty)}
        </Text>
      ) : null}
    </>
  )
}

function begun(unit: Interval, cohorts: readonly RetentionCohort[]): RetentionCohort[] {
  return cohorts.filter(({ from }) => stateOfInterval(unit, from) !== 'future')
}

/** The average of the compared range, below that of the range. */
function AverageBefore({ cohorts, average }: Part) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {words.averageBefore}
      </Table.Th>
      <Table.Td ta="right">{formatNumber(cohorts.reduce((sum, { size }) => sum + size, 0))}</Table.Td>
      {average.map((share, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a column is about
        <HeatCell key={index} share={share} />
      ))}
    </Table.Tr>
  )
}

interface CohortRowProps {
  unit: Interval
  cohort: RetentionCohort
  /** Whether its people can be listed. */
  isNow: boolean
}

function CohortRow({ unit, cohort: { from, size, returned }, isNow }: CohortRowProps) {
  const interval = mediumInterval(unit, from)
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {interval}
      </Table.Th>
      <Table.Td ta="right">
        <PeopleFigure name={words.startedIn(interval)} at={isNow ? { cohort: from } : undefined} value={size}>
          {formatNumber(size)}
        </PeopleFigure>
      </Table.Td>
      {returned.map((count, index) => (
        <HeatCell
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is about
          key={index}
          share={count === null || size === 0 ? null : count / size}
          count={count ?? undefined}
          name={words.cameBack(interval, words.after(unit, index + 1))}
          at={isNow ? { cohort: from, interval: index + 1 } : undefined}
        />
      ))}
    </Table.Tr>
  )
}

interface HeatCellProps {
  /** Null where an interval is not over, or nobody could come back. */
  share: number | null
  count?: number | undefined
  isBold?: boolean
  /** Of the people who came back. */
  name?: string
  at?: { cohort: string; interval: number } | undefined
}

function HeatCell({ share, count, isBold = false, name = '', at }: HeatCellProps) {
  if (share === null) return <Table.Td />
  return (
    <Table.Td
      className={classes.cell}
      ta="center"
      fw={isBold ? 600 : 400}
      style={{ '--share': `${Math.round(Math.min(share, 1) * 100)}%` }}
    >
      <PeopleFigure name={name} at={at} value={count}>
        {formatShare(share)}
      </PeopleFigure>
      {count === undefined ? null : <span className={classes.count}>{words.count(count)}</span>}
    </Table.Td>
  )
}

/** A line for each cohort, with numbers of people. */
function csvOf(
  unit: Interval,
  { cohorts, average }: { cohorts: RetentionCohort[]; average: (number | null)[] },
): (string | number | null)[][] {
  return [
    [words.cohort, words.size, ...average.map((_, index) => words.after(unit, index + 1))],
    ...cohorts.map(({ from, size, returned }) => [from, size, ...returned]),
    [words.average, null, ...average],
  ]
}
