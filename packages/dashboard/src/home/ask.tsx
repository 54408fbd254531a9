import { Button, Card, Group, Loader, Stack, Text, TextInput } from '@mantine/core'
import { IconMessageQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, lazy, Suspense, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { FormError } from '../ui/form.tsx'
import { ErrorState } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { text as texts } from './text.ts'

const text = texts.ask

/** With Markdown, which the first page does not need. */
const AnswerShown = lazy(() => import('./ask-answer.tsx').then((module) => ({ default: module.AnswerShown })))

/** Asks the configured model about the data; absent without a model, or for people who may not run one. */
export function Ask() {
  const mayAsk = useMay('agents:trigger')
  const { data, error, refetch } = useQuery({ ...queryOf('getAskModel'), enabled: mayAsk })
  if (!mayAsk) return null
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  return data?.model ? <AskCard model={data.model} /> : null
}

function AskCard({ model }: { model: string }) {
  const [question, setQuestion] = useState('')
  const asking = useOperation('ask')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    asking.mutate({ question: question.trim() })
  }
  const suggest = (suggestion: string) => {
    setQuestion(suggestion)
    asking.mutate({ question: suggestion })
  }
  return (
    <Card>
      <Stack gap="sm">
        <form onSubmit={submit}>
          <Group align="flex-end" gap="sm" wrap="nowrap">
            <TextInput
              flex={1}
              miw={0}
              label={text.title}
              description={text.description(model)}
              placeholder={text.placeholder}
              leftSection={<IconMessageQuestion size={16} aria-hidden />}
              {...upTo(2_000)}
              value={question}
              onChange={(event) => setQuestion(event.currentTarget.value)}
            />
            <Button type="submit" loading={asking.isPending} disabled={question.trim().length < 3}>
              {text.ask}
            </Button>
          </Group>
        </form>
        {asking.isIdle ? (
          <Group gap="xs">
            {text.suggestions.map((suggestion) => (
              <Button key={suggestion} size="compact-sm" variant="default" onClick={() => suggest(suggestion)}>
                {suggestion}
              </Button>
            ))}
          </Group>
        ) : null}
        <div aria-live="polite">
          {asking.isPending ? (
            <Group gap="xs">
              <Loader size="xs" aria-hidden />
              <Text size="sm">{text.waiting}</Text>
            </Group>
          ) : null}
          <FormError error={asking.error} />
          {asking.data && !asking.isPending ? (
            <Suspense fallback={<Loader size="xs" />}>
              <AnswerShown answer={asking.data} />
            </Suspense>
          ) : null}
        </div>
      </Stack>
    </Card>
  )
}
