import { Text } from '@mantine/core'
import { IconChartLine } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Input, Result } from '../../api/client.ts'
import { EmptyState } from '../../ui/states.tsx'
import type { Answered, InsightName } from '../answer-query.ts'
import { FunnelResult } from '../funnel-result.tsx'
import { answeredQuestion, IntervalMark } from '../longer-interval.tsx'
import { PathsResult } from '../paths-result.tsx'
import { RetentionResult } from '../retention-result.tsx'
import { SampleMark } from '../sample.tsx'
import { text as insightText } from '../text.ts'
import { TrendResult } from '../trend-result.tsx'
import { isNothing } from '../trend-rows.ts'
import { isNothing as isNoVisit } from '../web-figures.ts'
import { WebResult } from '../web-result.tsx'
import type { SharedReport } from './shared-query.ts'
import { text } from './text.ts'

/** How a shared report shows an answer. */
type Show = (question: SharedReport['question'], answer: NonNullable<SharedReport['answer']>) => ReactNode

function shows<Name extends InsightName>(
  isEmpty: (answer: Result<Name>) => boolean,
  show: (answered: Answered<Name>) => ReactNode,
): Show {
  return (question, answer) => {
    // The service has checked the question, and its answer is of the same kind.
    const answered = { question: named(question) as Input<Name>, answer: answer as Result<Name> }
    return isEmpty(answered.answer) ? null : show(answered)
  }
}

const KINDS: Record<SharedReport['kind'], Show> = {
  trend: shows<'insightTrend'>(isNothing, (answered) => <TrendResult {...answered} />),
  funnel: shows<'insightFunnel'>(
    ({ steps }) => steps.every(({ count }) => count === 0),
    (answered) => <FunnelResult {...answered} />,
  ),
  retention: shows<'insightRetention'>(
    ({ cohorts }) => cohorts.every(({ size }) => size === 0),
    (answered) => <RetentionResult {...answered} />,
  ),
  paths: shows<'insightPaths'>(
    ({ nodes }) => nodes.length === 0,
    (answered) => <PathsResult {...answered} />,
  ),
  web: shows<'insightWeb'>(isNoVisit, (answered) => <WebResult {...answered} />),
}

/** The answer of a shared report, or why there is none. */
export function SharedAnswer({ kind, question, answer, problem }: SharedReport) {
  if (problem !== null || answer === null) return <Text c="dimmed">{text.page.problems[problem ?? 'no_answer']}</Text>
  return (
    <>
      <SampleMark answer={answer} />
      <IntervalMark kind={kind} question={question} answer={answer} />
      {KINDS[kind](answeredQuestion({ kind, question, answer }), answer) ?? (
        <EmptyState icon={IconChartLine} title={insightText.empty.title}>
          {text.page.empty}
        </EmptyState>
      )}
    </>
  )
}

/** The events of a question with as many conditions as their names tell: that there are some. */
export function named(question: SharedReport['question']): SharedReport['question'] {
  const marked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(marked)
    if (typeof value !== 'object' || value === null || !('is_filtered' in value)) return value
    const { is_filtered: isFiltered, ...event } = value
    return isFiltered ? { ...event, where: [{}] } : event
  }
  return Object.fromEntries(Object.entries(question).map(([name, value]) => [name, marked(value)]))
}
