import { Alert, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { type SignInStep, signIn, startOidc } from '../session/session.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { ForgottenPassword } from './forgotten-password.tsx'
import { text } from './text.ts'

interface PasswordFormProps {
  /** The button of the organization's own provider, if there is one. */
  oidcLabel: string | undefined
  redirect: string | undefined
  /** Whether the service can mail a reset link. */
  canMail: boolean
  onDone: (step: SignInStep) => unknown
}

export function PasswordForm({ oidcLabel, redirect, canMail, onDone }: PasswordFormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const entering = useMutation({
    mutationFn: (tenantId?: string) => signIn(email.trim(), password, tenantId),
    onSuccess: (step) => (step.tenants.length > 0 ? undefined : onDone(step)),
  })
  const leaving = useMutation({
    mutationFn: () => startOidc(redirect ?? '/'),
    onSuccess: (url) => window.location.assign(url),
  })
  const error = entering.error ?? leaving.error
  const tenants = entering.data?.tenants ?? []
  if (tenants.length > 0) {
    return (
      <Stack gap="xs">
        <Text size="sm">{text.signIn.several}</Text>
        {tenants.map(({ tenant_id, name }) => (
          <Button key={tenant_id} variant="default" onClick={() => entering.mutate(tenant_id)}>
            <bdi>{name}</bdi>
          </Button>
        ))}
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => entering.reset()}>
          {text.back}
        </Button>
      </Stack>
    )
  }
  return (
    <Stack gap="md">
      {error ? (
        <Alert color="red" role="alert">
          {signInMessage(error)}
        </Alert>
      ) : null}
      <Form onSubmit={() => entering.mutate(undefined)}>
        <TextInput
          label={text.email}
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label={text.password}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': text.showPassword, tabIndex: 0, 'aria-hidden': false }}
        />
        <Button type="submit" loading={entering.isPending} fullWidth>
          {text.signIn.submit}
        </Button>
      </Form>
      {oidcLabel === undefined ? null : (
        <>
          <Divider label={text.signIn.or} />
          <Button variant="default" fullWidth loading={leaving.isPending} onClick={() => leaving.mutate()}>
            {oidcLabel}
          </Button>
        </>
      )}
      <ForgottenPassword email={email} canMail={canMail} />
    </Stack>
  )
}

function signInMessage(error: unknown): string {
  // Does not reveal which of the two is wrong.
  if (error instanceof ApiError && error.status === 401) return text.signIn.wrong
  return messageOf(error)
}
