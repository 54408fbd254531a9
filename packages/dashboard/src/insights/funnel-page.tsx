import { getRouteApi } from '@tanstack/react-router'
import { useFields } from '../filters/fields.ts'
import { Answer } from './answer.tsx'
import { FunnelFields } from './funnel-fields.tsx'
import { type FunnelQuestion, funnelDraft, funnelQuestion } from './funnel-question.ts'
import { FunnelResult } from './funnel-result.tsx'
import { InsightPage, QuestionAndAnswer } from './insight-frame.tsx'
import { FUNNEL } from './kinds.ts'
import { funnelSummary } from './summary.ts'
import { useQuestion } from './use-question.ts'

const route = getRouteApi('/shell/insights/funnel')

/** How many people went through steps, and where they left. */
export function FunnelPage() {
  const { question: text } = route.useSearch()
  return (
    <InsightPage tab="funnel" kind={FUNNEL} text={text}>
      {(question) => <Funnel question={question} />}
    </InsightPage>
  )
}

function Funnel({ question }: { question: FunnelQuestion }) {
  const navigate = route.useNavigate()
  const { types } = useFields('events')
  const { draft, change, isTooLong } = useQuestion({
    question,
    draftOf: funnelDraft,
    questionOf: (changed) => funnelQuestion(changed, types),
    onChange: (asked) => navigate({ search: { question: JSON.stringify(asked) }, replace: true }),
  })
  return (
    <QuestionAndAnswer
      summary={funnelSummary(question)}
      question={<FunnelFields draft={draft} isTooLong={isTooLong} onChange={change} />}
      answer={
        <Answer
          kind={FUNNEL}
          question={question}
          onSample={(sample) => change({ sample })}
          isEmpty={({ steps, compare }) => [...steps, ...(compare?.steps ?? [])].every(({ count }) => count === 0)}
        >
          {(answered) => <FunnelResult {...answered} />}
        </Answer>
      }
    />
  )
}
