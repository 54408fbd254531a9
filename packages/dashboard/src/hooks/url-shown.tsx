import { Alert, Code, Group, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import type { Hook } from '../api/hooks.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { text } from './text.ts'

/** The URL of a hook, shown once, and where to enter it. */
export function UrlShown({ url, kind }: { url: string; kind: Hook['kind'] }) {
  return (
    <Alert icon={<IconKey aria-hidden />} title={text.url.title} role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{url}</Code>
          <CopyButton value={url} label={text.url.copy} withText />
        </Group>
        <Text size="sm">{text.url.next[kind]}</Text>
      </Stack>
    </Alert>
  )
}
