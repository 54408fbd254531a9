import { Code, Stack, Text } from '@mantine/core'
import type { AskResult, ToolCall } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { linkOf } from './ask-links.ts'
import { text as texts } from './text.ts'

const text = texts.ask

/** An answer, a link to the page that shows the same, and how the model looked it up. */
export function AnswerShown({ answer: { answer, calls } }: { answer: AskResult }) {
  const link = linkOf(calls)
  return (
    <Stack gap="xs">
      <Markdown>{answer}</Markdown>
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
