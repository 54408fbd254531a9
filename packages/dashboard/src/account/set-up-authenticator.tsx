import { Alert, Anchor, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { verifyCode } from '../api/session.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { messageOf } from '../ui/states.tsx'

/** The key for the authenticator, and the first code that proves that it arrived. */
export function SetUpAuthenticator({ totpUri, onDone }: { totpUri: string; onDone: () => unknown }) {
  const [code, setCode] = useState('')
  const checking = useMutation({ mutationFn: () => verifyCode(code.trim(), 'totp'), onSuccess: onDone })
  const key = new URL(totpUri).searchParams.get('secret') ?? ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    checking.mutate()
  }
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      <Text size="sm">
        Type this key into your authenticator as a time-based code, or{' '}
        <Anchor href={totpUri} inherit underline="always">
          open it there
        </Anchor>{' '}
        when it runs on this device.
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Code block flex={1} style={{ whiteSpace: 'pre-wrap' }}>
          {key.match(/.{1,4}/g)?.join(' ')}
        </Code>
        <CopyButton value={key} label="the key" withText />
      </Group>
      <TextInput
        label="The code that it shows"
        required
        withAsterisk={false}
        inputMode="numeric"
        autoComplete="one-time-code"
        data-autofocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      {checking.isError ? (
        <Alert color="red" role="alert">
          {messageOf(checking.error)}
        </Alert>
      ) : null}
      <Group justify="flex-end">
        <Button type="submit" loading={checking.isPending}>
          Turn on
        </Button>
      </Group>
    </Stack>
  )
}
