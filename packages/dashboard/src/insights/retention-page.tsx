import { getRouteApi } from '@tanstack/react-router'
import { useFields } from '../filters/fields.ts'
import { Answer } from './answer.tsx'
import { InsightPage, QuestionAndAnswer } from './insight-frame.tsx'
import { RETENTION } from './kinds.ts'
import { retentionDraft, retentionQuestion } from './retention-draft.ts'
import { RetentionFields } from './retention-fields.tsx'
import type { RetentionQuestion } from './retention-question.ts'
import { RetentionResult } from './retention-result.tsx'
import { retentionSummary } from './summary.ts'
import { useQuestion } from './use-question.ts'

const route = getRouteApi('/shell/insights/retention')

/** How many people come back after they started, cohort by cohort. */
export function RetentionPage() {
  const { question: text } = route.useSearch()
  return (
    <InsightPage tab="retention" kind={RETENTION} text={text}>
      {(question) => <Retention question={question} />}
    </InsightPage>
  )
}

function Retention({ question }: { question: RetentionQuestion }) {
  const navigate = route.useNavigate()
  const { types } = useFields('events')
  const { draft, change, isTooLong } = useQuestion({
    question,
    draftOf: retentionDraft,
    questionOf: (changed) => retentionQuestion(changed, types),
    onChange: (asked) => navigate({ search: { question: JSON.stringify(asked) }, replace: true }),
  })
  return (
    <QuestionAndAnswer
      summary={retentionSummary(question)}
      question={<RetentionFields draft={draft} isTooLong={isTooLong} onChange={change} />}
      answer={
        <Answer
          kind={RETENTION}
          question={question}
          onSample={(sample) => change({ sample })}
          isEmpty={({ cohorts, compare }) => [...cohorts, ...(compare?.cohorts ?? [])].every(({ size }) => size === 0)}
        >
          {(answered) => <RetentionResult {...answered} />}
        </Answer>
      }
    />
  )
}
