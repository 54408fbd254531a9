import { Alert, Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { resetPassword } from '../api/session.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { text } from './text.ts'

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
    <EntryFrame title={text.reset.title} error={setting.error}>
      {setting.isSuccess ? (
        <Alert color="green" role="status">
          {text.reset.done.before}
          <Link to="/sign-in">{text.reset.done.link}</Link>
          {text.reset.done.after}
        </Alert>
      ) : (
        <Stack component="form" gap="md" onSubmit={submit}>
          <NewPassword value={password} onChange={setPassword} />
          <Button type="submit" loading={setting.isPending} fullWidth>
            {text.reset.submit}
          </Button>
        </Stack>
      )}
    </EntryFrame>
  )
}
