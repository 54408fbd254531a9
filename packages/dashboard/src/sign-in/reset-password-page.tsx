import { Alert, Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { resetPassword } from '../session/session.ts'
import { Form } from '../ui/form.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { text } from './text.ts'

const route = getRouteApi('/reset-password')

/** Sets a new password with a reset link. */
export function ResetPasswordPage() {
  const { token = '' } = route.useSearch()
  const [password, setPassword] = useState('')
  const setting = useMutation({ mutationFn: () => resetPassword(token, password) })
  return (
    <EntryFrame title={text.reset.title} error={setting.error}>
      {setting.isSuccess ? (
        <Alert color="green" role="status">
          {text.reset.done.before}
          <Link to="/sign-in">{text.reset.done.link}</Link>
          {text.reset.done.after}
        </Alert>
      ) : (
        <Form onSubmit={() => setting.mutate()}>
          <NewPassword value={password} onChange={setPassword} />
          <Button type="submit" loading={setting.isPending} fullWidth>
            {text.reset.submit}
          </Button>
        </Form>
      )}
    </EntryFrame>
  )
}
