import { Alert, Code, Group, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyButton } from '../ui/copy-button.tsx'

/** A signing secret, shown once. */
export function SecretShown({ secret }: { secret: string }) {
  return (
    <Alert icon={<IconKey aria-hidden />} title="Save the signing secret now: it is not shown again" role="status">
      <Stack gap="xs">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <CopyButton value={secret} label="signing secret" withText />
        </Group>
        <Text size="sm">
          Check the header X-Service-Signature against <Code>sha256=</Code> and the HMAC-SHA256 of the raw body, keyed
          with this text. Any library for Standard Webhooks can check the other signature headers with the same secret.
        </Text>
      </Stack>
    </Alert>
  )
}
