import { Alert, Code, Group, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyButton } from '../ui/copy-button.tsx'
import { text } from './text.ts'

/** A signing secret, shown once. */
export function SecretShown({ secret }: { secret: string }) {
  return (
    <Alert icon={<IconKey aria-hidden />} title={text.secret.title} role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <CopyButton value={secret} label={text.secret.copy} withText />
        </Group>
        <Text size="sm">
          {text.secret.check.before}
          <Code>{text.secret.check.prefix}</Code>
          {text.secret.check.after}
        </Text>
      </Stack>
    </Alert>
  )
}
