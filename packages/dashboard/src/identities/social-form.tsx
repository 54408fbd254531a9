import { Alert, Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { refreshIdentities, startSocialLogin } from '../api/identities.ts'
import { messageOf } from '../ui/states.tsx'

interface SocialFormProps {
  identityId: string
  onBegun: (sessionId: string) => Promise<unknown>
  onCancel: () => void
}

/** The credentials for a social login, and its country. */
export function SocialForm({ identityId, onBegun, onCancel }: SocialFormProps) {
  const queryClient = useQueryClient()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [country, setCountry] = useState('US')
  const beginning = useMutation({
    mutationFn: () => startSocialLogin(identityId, { username: username.trim(), password, country: country.trim() }),
    onSuccess: ({ login_result: { session_id } }) => onBegun(session_id),
    onError: () => refreshIdentities(queryClient),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    beginning.mutate()
  }
  return (
    <Stack component="form" gap="sm" onSubmit={submit}>
      <TextInput
        label="User name or e-mail address"
        required
        autoComplete="off"
        maxLength={320}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Group grow align="flex-start">
        <PasswordInput
          label="Password"
          description="Deleted as soon as the login ends."
          required
          autoComplete="new-password"
          maxLength={1_000}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <TextInput
          label="Country"
          description="Two-letter code of the country where it usually logs in."
          required
          minLength={2}
          maxLength={2}
          value={country}
          onChange={(event) => setCountry(event.currentTarget.value.toUpperCase())}
        />
      </Group>
      {beginning.isError ? (
        <Alert color="red" role="alert" title="The login failed">
          {messageOf(beginning.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button type="submit" loading={beginning.isPending}>
          Log in
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}
