import { Alert, Button, Group, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshAfter, useOperation } from '../api/operation.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

interface SocialFormProps {
  identityId: string
  onBegun: (sessionId: string) => void
  onCancel: () => void
}

/** The credentials for a social login, and its country. */
export function SocialForm({ identityId, onBegun, onCancel }: SocialFormProps) {
  const queryClient = useQueryClient()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [country, setCountry] = useState('US')
  const beginning = useOperation('socialLogin', {
    onDone: ({ login_result: { session_id } }) => onBegun(session_id),
    // A login that the network rejects at once is a session too.
    onError: () => refreshAfter(queryClient, 'socialLogin'),
  })
  const submit = () =>
    beginning.mutate({
      identity_id: identityId,
      username: username.trim(),
      password,
      country: country.trim(),
    })
  return (
    <Form gap="sm" onSubmit={submit}>
      <TextInput
        label={text.socialForm.user}
        required
        autoComplete="off"
        maxLength={320}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Group grow align="flex-start">
        <PasswordInput
          label={text.socialForm.password}
          description={text.socialForm.passwordHint}
          required
          autoComplete="new-password"
          maxLength={1_000}
          visibilityToggleButtonProps={{ 'aria-label': text.socialForm.showPassword }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <TextInput
          label={text.socialForm.country}
          description={text.socialForm.countryHint}
          required
          minLength={2}
          maxLength={2}
          value={country}
          onChange={(event) => setCountry(event.currentTarget.value.toUpperCase())}
        />
      </Group>
      {beginning.isError ? (
        <Alert color="red" role="alert" title={text.socialForm.failed}>
          {messageOf(beginning.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button type="submit" loading={beginning.isPending}>
          {text.socialForm.submit}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {text.socialForm.cancel}
        </Button>
      </Group>
    </Form>
  )
}
