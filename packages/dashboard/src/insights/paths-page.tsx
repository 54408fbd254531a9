import { getRouteApi } from '@tanstack/react-router'
import { useFields } from '../filters/fields.ts'
import { Answer } from './answer.tsx'
import { InsightPage, QuestionAndAnswer } from './insight-frame.tsx'
import { PATHS } from './kinds.ts'
import { PathsFields } from './paths-fields.tsx'
import { type PathsQuestion, pathsDraft, pathsQuestion } from './paths-question.ts'
import { PathsResult } from './paths-result.tsx'
import { pathsSummary } from './summary.ts'
import { useQuestion } from './use-question.ts'

const route = getRouteApi('/shell/insights/paths')

/** Which ways visits take, from page to page or event to event. */
export function PathsPage() {
  const { question: text } = route.useSearch()
  return (
    <InsightPage tab="paths" kind={PATHS} text={text}>
      {(question) => <Paths question={question} />}
    </InsightPage>
  )
}

function Paths({ question }: { question: PathsQuestion }) {
  const navigate = route.useNavigate()
  const { types } = useFields('events')
  const { draft, change, isTooLong } = useQuestion({
    question,
    draftOf: pathsDraft,
    questionOf: (changed) => pathsQuestion(changed, types),
    onChange: (asked) => navigate({ search: { question: JSON.stringify(asked) }, replace: true }),
  })
  return (
    <QuestionAndAnswer
      summary={pathsSummary(question)}
      question={<PathsFields draft={draft} isTooLong={isTooLong} onChange={change} />}
      answer={
        <Answer
          kind={PATHS}
          question={question}
          onSample={(sample) => change({ sample })}
          isEmpty={({ nodes, compare }) => nodes.length + (compare?.nodes.length ?? 0) === 0}
        >
          {(answered) => <PathsResult {...answered} />}
        </Answer>
      }
    />
  )
}
