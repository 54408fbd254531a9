import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { QUESTION_LENGTH_MAX } from './question-length.ts'

/** Long enough to finish a word, short enough to feel immediate. */
const PAUSE_MS = 300

interface QuestionForm<Question, Draft> {
  /** What the URL says, or what is proposed. */
  question: Question
  draftOf: (question: Question) => Draft
  /** Null while something is missing. */
  questionOf: (draft: Draft) => Question | null
  /** Writes the question to the URL. */
  onChange: (question: Question) => void
}

/** The state of a form whose question is in the URL: there a moment after each change, and from there after a link or a step back. */
export function useQuestion<Question, Draft>({
  question,
  draftOf,
  questionOf,
  onChange,
}: QuestionForm<Question, Draft>) {
  const inUrl = JSON.stringify(question)
  const [draft, setDraft] = useState(() => draftOf(question))
  const [isTooLong, setTooLong] = useState(false)
  const written = useRef(inUrl)
  const write = useDebouncedCallback((changed: Draft) => {
    const asked = questionOf(changed)
    if (asked === null) return
    const text = JSON.stringify(asked)
    setTooLong(text.length > QUESTION_LENGTH_MAX)
    if (text.length > QUESTION_LENGTH_MAX || text === written.current) return
    written.current = text
    onChange(asked)
  }, PAUSE_MS)
  const latest = useRef({ question, draftOf })
  latest.current = { question, draftOf }
  useEffect(() => {
    if (inUrl === written.current) return
    written.current = inUrl
    setDraft(latest.current.draftOf(latest.current.question))
  }, [inUrl])
  const change = (changes: Partial<Draft>) => {
    const changed = { ...draft, ...changes }
    setDraft(changed)
    write(changed)
  }
  return { draft, change, isTooLong }
}
