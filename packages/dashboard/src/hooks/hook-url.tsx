import { Alert, Button, Card, Code, Group, Stack, Text, Title } from '@mantine/core'
import { IconEye } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Hook } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { messageOf } from '../ui/states.tsx'
import { urlQuery } from './hook-queries.ts'
import { text } from './text.ts'

const words = text.url

/** The URL of a hook, for those who may change it, and where to enter it while nothing has arrived. */
export function HookUrl({ hook }: { hook: Hook }) {
  const { hook_id, kind, token_hint: hint, last_body_at: last } = hook
  const mayWrite = useMay('settings:write')
  const { data, error, isFetching, refetch } = useQuery(urlQuery(hook_id))
  return (
    <Card component="section" aria-label={words.title}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          {words.title}
        </Title>
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{data ? data.url : words.hidden(hint)}</Code>
          {data ? (
            <CopyButton value={data.url} label={words.copy} withText />
          ) : mayWrite ? (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconEye size={14} aria-hidden />}
              loading={isFetching}
              onClick={() => refetch()}
            >
              {words.show}
            </Button>
          ) : null}
        </Group>
        {error && !data ? (
          <Alert color="red" role="alert">
            {messageOf(error)}
          </Alert>
        ) : null}
        <Text size="sm" c="dimmed">
          {last === null ? words.next[kind] : words.secret}
        </Text>
      </Stack>
    </Card>
  )
}
