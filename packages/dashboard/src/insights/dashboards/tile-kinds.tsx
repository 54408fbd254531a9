import { SimpleGrid } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Input, Result } from '../../api/client.ts'
import type { Report } from '../../api/types.ts'
import { formatNumber } from '../../ui/format.ts'
import { type Answered, answerQuery, type InsightName, type Kind } from '../answer-query.ts'
import { formatFigure, formatShare } from '../axis.ts'
import { columnsOf, FiguresTable } from '../figures-table.tsx'
import { Steps, StepsTable } from '../funnel-result.tsx'
import { FUNNEL, PATHS, RETENTION, TREND, WEB } from '../kinds.ts'
import { Flow, Ways } from '../paths-result.tsx'
import { Cohorts } from '../retention-result.tsx'
import { text as insightText } from '../text.ts'
import { isNothing, meantName, rowsOf } from '../trend-rows.ts'
import { WebChart } from '../web-chart.tsx'
import { type Figure, isNothing as isNoVisit } from '../web-figures.ts'
import { ListCard } from '../web-list-card.tsx'
import { text as webWords } from '../web-text.ts'
import { Totals } from '../web-totals.tsx'
import { text } from './text.ts'
import { Fitted, Scroll } from './tile-body.tsx'
import type { Headline } from './tile-number.tsx'
import { TileTrend } from './tile-trend.tsx'

const words = text.tile

interface Declared<Name extends InsightName> {
  kind: Kind<Name>
  isEmpty(answer: Result<Name>): boolean
  chart(answered: Answered<Name>, name: string): ReactNode
  table(answered: Answered<Name>, name: string): ReactNode
  /** Its main figure. */
  headline(answered: Answered<Name>): Headline
}

/** How tiles show a kind of question. What a dashboard does with all kinds does it through this. */
export interface TileKind {
  ask(question: Report['question']): ReturnType<typeof answerQuery>
  isEmpty(answer: never): boolean
  chart(answered: never, name: string): ReactNode
  table(answered: never, name: string): ReactNode
  headline(answered: never): Headline
}

function tileKind<Name extends InsightName>(declared: Declared<Name>): TileKind {
  return {
    ...declared,
    // The service has checked the questions of reports.
    ask: (question) => answerQuery(declared.kind, question as Input<Name>) as unknown as ReturnType<typeof answerQuery>,
  }
}

export const TILE_KINDS: Record<Report['kind'], TileKind> = {
  trend: tileKind({
    kind: TREND,
    isEmpty: isNothing,
    chart: (answered) => <TileTrend {...answered} />,
    table: ({ question, answer }, name) => (
      <Scroll name={name}>
        <FiguresTable
          label={insightText.trend.figuresTable(question.interval ?? 'day')}
          unit={question.interval ?? 'day'}
          keys={answer.intervals}
          columns={columnsOf(rowsOf(question, answer))}
        />
      </Scroll>
    ),
    headline: ({ question, answer }) => {
      const [row] = rowsOf(question, answer)
      return {
        name: row?.name ?? '',
        value: row?.total ?? null,
        before: row?.before?.total,
        format: formatFigure,
        people: row?.at && { at: row.at, count: row.total },
      }
    },
  }),
  funnel: tileKind({
    kind: FUNNEL,
    isEmpty: ({ steps }) => steps.every(({ count }) => count === 0),
    chart: (answered, name) => (
      <Scroll name={name}>
        <Steps {...answered} />
      </Scroll>
    ),
    table: (answered, name) => (
      <Scroll name={name}>
        <StepsTable {...answered} />
      </Scroll>
    ),
    headline: ({ question, answer }) => {
      const last = answer.steps.at(-1)
      return {
        name: words.finished(meantName(question.steps.at(-1) ?? {})),
        value: last?.from_first ?? null,
        before: answer.compare?.steps.at(-1)?.from_first,
        format: formatShare,
        people: { at: { step: answer.steps.length }, count: last?.count },
      }
    },
  }),
  retention: tileKind({
    kind: RETENTION,
    isEmpty: ({ cohorts }) => cohorts.every(({ size }) => size === 0),
    chart: cohorts,
    table: cohorts,
    headline: ({ question, answer }) => ({
      name: words.cameBack(insightText.retention.after(question.interval ?? 'day', 1)),
      value: answer.average[0] ?? null,
      before: answer.compare?.average[0],
      format: formatShare,
    }),
  }),
  paths: tileKind({
    kind: PATHS,
    isEmpty: ({ nodes }) => nodes.length === 0,
    chart: (answered) => <Fitted>{(height) => <Flow {...answered} height={height} />}</Fitted>,
    table: (answered, name) => (
      <Scroll name={name}>
        <Ways {...answered} />
      </Scroll>
    ),
    headline: ({ answer }) => ({
      name: words.visits,
      value: visitsIn(answer),
      before: answer.compare && visitsIn(answer.compare),
      format: countWords,
    }),
  }),
  web: tileKind({
    kind: WEB,
    isEmpty: isNoVisit,
    chart: (answered, name) => (
      <Scroll name={name}>
        <WebTile {...answered} />
      </Scroll>
    ),
    table: (answered, name) => (
      <Scroll name={name}>
        <WebTile {...answered} />
      </Scroll>
    ),
    headline: ({ answer: { totals, compare } }) => ({
      name: webWords.figures.people,
      value: totals.people,
      before: compare?.totals.people,
      format: countWords,
      people: { at: {}, count: totals.people },
    }),
  }),
}

function countWords(value: number | null | undefined): string {
  return value === null || value === undefined ? formatFigure(null) : formatNumber(value)
}

function cohorts({ question, answer }: Answered<'insightRetention'>, name: string): ReactNode {
  return (
    <Scroll name={name}>
      <Cohorts unit={question.interval ?? 'day'} part={answer} isNow />
    </Scroll>
  )
}

/** Every visit is at one of the places of the step with the most. */
function visitsIn({ nodes }: Pick<Result<'insightPaths'>, 'nodes'>): number {
  const sums = new Map<number, number>()
  for (const { step, count } of nodes) sums.set(step, (sums.get(step) ?? 0) + count)
  return Math.max(0, ...sums.values())
}

/** The figures of visits, one of them over time, and where they came from and went to. */
function WebTile({ question, answer }: Answered<'insightWeb'>) {
  const [figure, setFigure] = useState<Figure>('people')
  return (
    <>
      <Totals answer={answer} chosen={figure} onChoose={setFigure} />
      <WebChart question={question} answer={answer} figure={figure} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs" verticalSpacing="xs">
        <ListCard card="source" question={question} answer={answer} />
        <ListCard card="page" question={question} answer={answer} />
      </SimpleGrid>
    </>
  )
}
