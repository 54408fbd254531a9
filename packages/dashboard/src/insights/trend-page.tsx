import { getRouteApi } from '@tanstack/react-router'
import { useFields } from '../filters/fields.ts'
import { Answer } from './answer.tsx'
import { missingInTrend, trendDraft, trendQuestion } from './draft.ts'
import { InsightPage, QuestionAndAnswer } from './insight-frame.tsx'
import { TREND } from './kinds.ts'
import type { TrendQuestion } from './question.ts'
import { trendSummary } from './summary.ts'
import { TrendFields } from './trend-fields.tsx'
import { TrendResult } from './trend-result.tsx'
import { isNothing } from './trend-rows.ts'
import { useQuestion } from './use-question.ts'

const route = getRouteApi('/shell/insights')

/** How much happened over time: counts, people and sums as lines and as numbers. */
export function TrendPage() {
  const { question: text } = route.useSearch()
  return (
    <InsightPage tab="trend" kind={TREND} text={text}>
      {(question) => <Trend question={question} />}
    </InsightPage>
  )
}

function Trend({ question }: { question: TrendQuestion }) {
  const navigate = route.useNavigate()
  const { types } = useFields('events')
  const { draft, change, isTooLong } = useQuestion({
    question,
    draftOf: trendDraft,
    questionOf: (changed) => (missingInTrend(changed) === null ? trendQuestion(changed, types) : null),
    onChange: (asked) => navigate({ search: { question: JSON.stringify(asked) }, replace: true }),
  })
  return (
    <QuestionAndAnswer
      summary={trendSummary(question)}
      question={<TrendFields draft={draft} isTooLong={isTooLong} onChange={change} />}
      answer={
        <Answer kind={TREND} question={question} onSample={(sample) => change({ sample })} isEmpty={isNothing}>
          {(answered) => <TrendResult {...answered} />}
        </Answer>
      }
    />
  )
}
