import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Answer } from './answer.tsx'
import { InsightPage } from './insight-frame.tsx'
import { WEB } from './kinds.ts'
import { QUESTION_LENGTH_MAX } from './question-length.ts'
import { WebBar } from './web-bar.tsx'
import { isNothing } from './web-figures.ts'
import { toggleRow, type WebChanges, type WebQuestion } from './web-question.ts'
import { WebResult } from './web-result.tsx'

const route = getRouteApi('/shell/insights/web')

/** Who visits the sites, where they come from and what they look at. */
export function WebPage() {
  const { question: text } = route.useSearch()
  return (
    <InsightPage tab="web" kind={WEB} text={text}>
      {(question) => <Web question={question} />}
    </InsightPage>
  )
}

function Web({ question }: { question: WebQuestion }) {
  const navigate = route.useNavigate()
  const [isTooLong, setTooLong] = useState(false)
  const change = (changes: WebChanges) => {
    const text = JSON.stringify({ ...question, ...changes })
    setTooLong(text.length > QUESTION_LENGTH_MAX)
    if (text.length <= QUESTION_LENGTH_MAX) void navigate({ search: { question: text }, resetScroll: false })
  }
  return (
    <>
      <WebBar question={question} isTooLong={isTooLong} onChange={change} />
      <Answer kind={WEB} question={question} onSample={(sample) => change({ sample })} isEmpty={isNothing}>
        {(answered) => (
          <WebResult
            {...answered}
            onToggle={(list, value) => change(toggleRow(question, list, value))}
            onChange={change}
          />
        )}
      </Answer>
    </>
  )
}
