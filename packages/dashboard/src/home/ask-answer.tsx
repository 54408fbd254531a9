import { Box, Code, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { AskResult, ToolCall } from '../api/types.ts'
import { TileAnswer, TileCard } from '../insights/dashboards/tile.tsx'
import { TILE_KINDS } from '../insights/dashboards/tile-kinds.tsx'
import { KIND_PATHS } from '../insights/kind-paths.ts'
import { WithPeople } from '../insights/people-panel.tsx'
import { QUESTION_LENGTH_MAX } from '../insights/question-length.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { type AskedInsight, insightIn, linkOf } from './ask-links.ts'
import { text as texts } from './text.ts'

const text = texts.ask
const CHART_HEIGHT = 380

/** An answer, a link to the page that shows the same, and how the model looked it up. */
export function AnswerShown({ answer: { answer, calls } }: { answer: AskResult }) {
  const link = linkOf(calls)
  const insight = insightIn(calls)
  return (
    <Stack gap="xs">
      <Markdown>{answer}</Markdown>
      {insight === null ? null : <Chart {...insight} />}
      {link === null ? null : (
        <AnchorLink size="sm" to={link.to} search={link.search}>
          {link.to === '/contacts' ? text.openContacts : text.openChart}
        </AnchorLink>
      )}
      <details>
        <Text component="summary" size="sm" c="dimmed">
          {text.calls(calls.length)}
        </Text>
        <Stack gap={4} mt="xs">
          {calls.map((call, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an answer never change
            <CallShown key={index} call={call} />
          ))}
        </Stack>
      </details>
    </Stack>
  )
}

/** The question as a chart, which leads to where it can be changed. */
function Chart({ kind, question }: AskedInsight) {
  const { data, error, refetch } = useQuery(TILE_KINDS[kind].ask(question))
  const inUrl = JSON.stringify(question)
  return (
    <Box h={CHART_HEIGHT}>
      <TileCard
        title={
          inUrl.length > QUESTION_LENGTH_MAX ? (
            text.chart
          ) : (
            <AnchorLink size="sm" to={KIND_PATHS[kind]} search={{ question: inUrl }}>
              {text.openQuestion}
            </AnchorLink>
          )
        }
      >
        {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!error && !data ? <LoadingState lines={6} label={text.loadingChart} /> : null}
        {data ? (
          <WithPeople kind={kind} question={{ ...question, compare: undefined }}>
            <TileAnswer kind={kind} name={text.chart} view="chart" {...data} />
          </WithPeople>
        ) : null}
      </TileCard>
    </Box>
  )
}

function CallShown({ call: { title, arguments: given, error } }: { call: ToolCall }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <Code block>{JSON.stringify(given, null, 1)}</Code>
      {error === null ? null : (
        <Text size="sm" c="red">
          {error}
        </Text>
      )}
    </div>
  )
}
