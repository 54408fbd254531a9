import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyButton } from './copy-button.tsx'

interface SecretShownProps {
  secret: string
  words: {
    saveNow: string
    /** Names the secret for the button that copies it. */
    copy: string
    saved: string
  }
  onDone: () => void
}

/** A new secret, which is shown once. */
export function SecretShown({ secret, words, onDone }: SecretShownProps) {
  return (
    <Stack gap="md">
      <Alert icon={<IconKey aria-hidden />} title={words.saveNow} role="status">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <CopyButton value={secret} label={words.copy} withText />
        </Group>
      </Alert>
      <Button ml="auto" onClick={onDone} autoFocus>
        {words.saved}
      </Button>
    </Stack>
  )
}
