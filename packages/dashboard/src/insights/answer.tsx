import { Stack, Text } from '@mantine/core'
import { IconChartLine } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { Input, Result } from '../api/client.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Warnings } from '../ui/warnings.tsx'
import { type Answered, answerQuery, type InsightName, type Kind } from './answer-query.ts'
import { offersSample, SampleNote, SampleOffer } from './sample.tsx'
import { text } from './text.ts'

interface AnswerProps<Name extends InsightName> {
  kind: Kind<Name>
  question: Input<Name>
  isEmpty: (answer: Result<Name>) => boolean
  /** Asks a part of the people; undefined: everybody. */
  onSample: (sample: number | undefined) => void
  children: (answered: Answered<Name>) => ReactNode
}

/** The answer to a question, or why there is none. */
export function Answer<Name extends InsightName>({ kind, question, isEmpty, onSample, children }: AnswerProps<Name>) {
  const query = useQuery({ ...answerQuery(kind, question), placeholderData: keepPreviousData })
  const { data, error, refetch, isPlaceholderData, isFetching } = query
  const isSlow = useIsSlow(isFetching)
  const slow = isSlow ? (
    <Text size="sm" c="dimmed" role="status">
      {text.slow}
    </Text>
  ) : null
  if (!data) {
    return (
      <Stack gap="xs">
        {slow}
        {offersSample(error) ? <SampleOffer sample={question.sample ?? 1} onSample={onSample} /> : null}
        {error && !offersSample(error) ? <ErrorState error={error} onRetry={refetch} /> : null}
        {error ? null : <LoadingState lines={10} label={text.loading} />}
      </Stack>
    )
  }
  return (
    <Stack gap="xs" aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
      {slow}
      <Warnings of={data.answer.warnings} />
      {data.answer.sample === undefined ? null : <SampleNote sample={data.answer.sample} onSample={onSample} />}
      {isEmpty(data.answer) ? (
        <EmptyState icon={IconChartLine} title={text.empty.title}>
          {text.empty.hint}
        </EmptyState>
      ) : (
        children(data)
      )}
    </Stack>
  )
}

const SLOW_MS = 3_000

/** Whether something has been going on for long. */
function useIsSlow(isGoingOn: boolean): boolean {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    setSlow(false)
    if (!isGoingOn) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isGoingOn])
  return isSlow && isGoingOn
}
