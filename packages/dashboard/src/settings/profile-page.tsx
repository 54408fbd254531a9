import { Alert, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changeMyName, changePassword, refreshMe } from '../api/account.ts'
import { useMe } from '../app/may.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { SettingsPart } from './settings-part.tsx'
import { TwoFactor } from './two-factor.tsx'

/** The signed-in person's settings, which are the same in every tenant. */
export function ProfilePage() {
  const { user, sign_in: signIn } = useMe()
  return (
    <>
      <PageHeader title="Profile and security" description={<bdi>{user.email}</bdi>} />
      <Stack gap="md" maw={640}>
        <Name />
        {user.has_password ? (
          <>
            <ChangePassword email={user.email} />
            <TwoFactor isOn={user.two_factor_enabled} />
          </>
        ) : (
          <SettingsPart title="Password">
            <Text size="sm">
              You have no password here: you sign in with {signIn.oidc.label ?? 'your organisation'}, which manages your
              password and a second factor.
            </Text>
          </SettingsPart>
        )}
      </Stack>
    </>
  )
}

function Name() {
  const queryClient = useQueryClient()
  const { user } = useMe()
  const [name, setName] = useState(user.name)
  const saving = useMutation({ mutationFn: () => changeMyName(name.trim()), onSuccess: () => refreshMe(queryClient) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <SettingsPart title="Name">
      <Stack component="form" gap="sm" align="flex-start" onSubmit={submit}>
        <TextInput
          label="Your name"
          description="Shown to others in the team, on notes and in the audit log."
          w="100%"
          required
          withAsterisk={false}
          autoComplete="name"
          {...upTo(200)}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value)
            saving.reset()
          }}
        />
        <Outcome error={saving.error} success={saving.isSuccess ? 'Name saved.' : null} />
        <Button type="submit" variant="default" loading={saving.isPending} disabled={name.trim() === user.name}>
          Save the name
        </Button>
      </Stack>
    </SettingsPart>
  )
}

function ChangePassword({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const changing = useMutation({
    mutationFn: () => changePassword(current, next),
    onSuccess: () => {
      setCurrent('')
      setNext('')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    changing.mutate()
  }
  return (
    <SettingsPart title="Password">
      <Stack component="form" gap="sm" align="flex-start" onSubmit={submit}>
        {/* Tells password managers which account the password belongs to. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label="Current password"
          name="password"
          autoComplete="current-password"
          w="100%"
          required
          withAsterisk={false}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          visibilityToggleButtonProps={{
            'aria-label': 'Show your existing one',
            tabIndex: 0,
            'aria-hidden': false,
          }}
        />
        <div style={{ width: '100%' }}>
          <NewPassword label="New password" value={next} onChange={setNext} />
        </div>
        <Outcome
          error={changing.error}
          success={changing.isSuccess ? 'Password changed. All other sessions have ended.' : null}
        />
        <Button type="submit" variant="default" loading={changing.isPending}>
          Change the password
        </Button>
      </Stack>
    </SettingsPart>
  )
}

function Outcome({ error, success }: { error: unknown; success: string | null }) {
  if (error) {
    return (
      <Alert color="red" role="alert">
        {messageOf(error)}
      </Alert>
    )
  }
  return success === null ? null : (
    <Alert color="green" role="status">
      {success}
    </Alert>
  )
}
