import { Alert, Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { resetPassword } from '../api/session.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'

const route = getRouteApi('/reset-password')

/** Sets a new password with a reset link. */
export function ResetPasswordPage() {
  const { token = '' } = route.useSearch()
  const [password, setPassword] = useState('')
  const setting = useMutation({ mutationFn: () => resetPassword(token, password) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setting.mutate()
  }
  return (
    <EntryFrame title="Choose a new password" error={setting.error}>
      {setting.isSuccess ? (
        <Alert color="green" role="status">
          Your new password is set. <Link to="/sign-in">Sign in</Link> with it.
        </Alert>
      ) : (
        <Stack component="form" gap="md" onSubmit={submit}>
          <NewPassword value={password} onChange={setPassword} />
          <Button type="submit" loading={setting.isPending} fullWidth>
            Set the password
          </Button>
        </Stack>
      )}
    </EntryFrame>
  )
}
