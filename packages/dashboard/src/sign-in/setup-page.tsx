import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { setUp, signInOptionsQuery } from '../api/session.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { useEnter } from './use-enter.ts'

/** The very first page of a new service: makes its owner and its first tenant. */
export function SetupPage() {
  const options = useQuery(signInOptionsQuery)
  const [owner, setOwner] = useState({ tenant_name: '', name: '', email: '', password: '' })
  const enter = useEnter()
  const making = useMutation({ mutationFn: () => setUp(owner), onSuccess: enter })
  if (options.data && !options.data.setup_needed && making.isIdle) return <Navigate to="/sign-in" replace />
  const set = (name: keyof typeof owner) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setOwner((before) => ({ ...before, [name]: value }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  return (
    <EntryFrame
      title="Welcome"
      description="Nobody uses this service yet. Make your account: it will own everything here."
      error={making.error ?? options.error}
    >
      <Stack component="form" gap="md" onSubmit={submit}>
        <TextInput
          label="Organisation"
          description="The name of your first tenant."
          name="organization"
          autoComplete="organization"
          required
          withAsterisk={false}
          maxLength={200}
          value={owner.tenant_name}
          onChange={set('tenant_name')}
        />
        <TextInput
          label="Your name"
          name="name"
          autoComplete="name"
          required
          withAsterisk={false}
          maxLength={200}
          value={owner.name}
          onChange={set('name')}
        />
        <TextInput
          label="E-mail address"
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={owner.email}
          onChange={set('email')}
        />
        <NewPassword value={owner.password} onChange={(password) => setOwner((before) => ({ ...before, password }))} />
        <Button type="submit" loading={making.isPending} fullWidth>
          Create the account
        </Button>
      </Stack>
    </EntryFrame>
  )
}
