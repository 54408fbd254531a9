import { Blockquote, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

const PREVIEW_AFTER_MS = 400

interface MessageFieldsProps {
  event: string
  /** null: the default text for the event. */
  value: string | null
  onChange: (template: string | null) => void
}

/** The text of a message, with a preview that the service renders. */
export function MessageFields({ event, value, onChange }: MessageFieldsProps) {
  const [wanted] = useDebouncedValue({ event, value }, PREVIEW_AFTER_MS)
  const { data, error } = useQuery({
    ...queryOf('previewWebhookMessage', {
      event: wanted.event,
      ...(wanted.value === null ? {} : { template: wanted.value }),
    }),
    enabled: wanted.event !== '',
    retry: false,
    placeholderData: keepPreviousData,
  })
  return (
    <Stack gap="xs" role="group" aria-label={text.message.label}>
      <Textarea
        label={text.message.template}
        description={text.message.templateDescription}
        autosize
        minRows={2}
        value={value ?? data?.template ?? ''}
        onChange={(changed) => onChange(changed.currentTarget.value)}
        {...upTo(1_000)}
      />
      {value === null ? null : (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={() => onChange(null)}>
            {text.message.useDefault}
          </Button>
        </div>
      )}
      <Text size="sm" fw={550}>
        {text.message.preview}
      </Text>
      {error ? (
        <Text size="sm" c="red" role="alert">
          {messageOf(error)}
        </Text>
      ) : (
        <Blockquote p="sm" my={0} aria-live="polite">
          <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {data ? <Foreign max={2_000}>{withoutEscapes(data.text)}</Foreign> : text.message.chooseEvent}
          </Text>
        </Blockquote>
      )}
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {text.message.previewNote}
        </Text>
      </Group>
    </Stack>
  )
}

/** Shows the message as the channel does, with escapes resolved. */
function withoutEscapes(sent: string): string {
  return sent.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
