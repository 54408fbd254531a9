import { Alert, Card, Code, Group, Loader, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { HookMapping, PreviewHookResult } from '../api/types.ts'
import { Facts } from '../ui/facts.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.preview
/** Long enough to finish a word, short enough to feel immediate. */
const PAUSE_MS = 300

/** The records that the edited mapping would create from the sample. */
export function MappingPreview({ hookId, mapping, sample }: { hookId: string; mapping: HookMapping; sample: unknown }) {
  const [debounced] = useDebouncedValue(mapping, PAUSE_MS)
  const { data, error, isFetching } = useQuery({
    ...queryOf('previewHook', { hook_id: hookId, mapping: debounced, sample }),
    enabled: sample !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <Card aria-live="polite" aria-busy={isFetching} component="section" aria-label={words.title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.title}
        </Title>
        {isFetching ? <Loader size="xs" role="status" aria-label={words.updating} /> : null}
      </Group>
      {sample === undefined ? (
        <Text size="sm" c="dimmed">
          {words.noSample}
        </Text>
      ) : error ? (
        <Alert color="red" role="alert">
          {messageOf(error)}
        </Alert>
      ) : data ? (
        <Result preview={data} />
      ) : null}
    </Card>
  )
}

const COLORS = { recorded: 'green', skipped: 'gray', failed: 'red' } as const

function Result({ preview: { state, error, event, contact, company } }: { preview: PreviewHookResult }) {
  return (
    <Stack gap="sm">
      <Alert color={COLORS[state]} title={words.states[state]}>
        {error === null ? null : <Problems error={error} />}
      </Alert>
      {event ? <Part title={words.event} values={{ ...event, timestamp: event.timestamp ?? words.now }} /> : null}
      {contact ? <Part title={words.contact} values={{ ...contact }} /> : null}
      {company ? <Part title={words.company} values={{ ...company }} /> : null}
    </Stack>
  )
}

function Problems({ error: { message, details } }: { error: NonNullable<PreviewHookResult['error']> }) {
  if (details.length === 0) return <Foreign>{message}</Foreign>
  return (
    <Stack component="ul" gap={4} m={0} pl="md">
      {details.map(({ path, message: problem }) => (
        <li key={`${path} ${problem}`}>
          <Code>{path.slice(0, 200)}</Code> <Foreign>{problem}</Foreign>
        </li>
      ))}
    </Stack>
  )
}

/** The fields of an event, a contact or a company, with its data or properties among them. */
function Part({ title, values }: { title: string; values: Record<string, unknown> }) {
  const { data, properties, ...named } = values
  const facts = [
    ...Object.entries(named).flatMap(([name, value]) =>
      value === null ? [] : [[words.names[name] ?? name, value] as const],
    ),
    ...Object.entries({ ...(data as object), ...(properties as object) }),
  ]
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <Facts facts={facts.map(([name, value]) => [String(name), shown(value)])} />
    </div>
  )
}

function shown(value: unknown) {
  const words = typeof value === 'string' ? value : JSON.stringify(value)
  return words === '' ? <None /> : <Foreign max={200}>{words}</Foreign>
}
