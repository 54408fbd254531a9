import { Alert, Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { changePassword } from '../api/account.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { messageOf } from '../ui/states.tsx'

/** A new password in the place of the old one; whoever knew that one is signed out. */
export function ChangePassword() {
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
    <Stack component="form" gap="sm" onSubmit={submit} maw={420}>
      <PasswordInput
        label="Present password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the present password', tabIndex: 0, 'aria-hidden': false }}
      />
      <NewPassword label="New password" value={next} onChange={setNext} />
      {changing.isError ? (
        <Alert color="red" role="alert">
          {messageOf(changing.error)}
        </Alert>
      ) : null}
      {changing.isSuccess ? (
        <Alert color="green" role="status">
          Your password is changed. Your other devices have to sign in again.
        </Alert>
      ) : null}
      <div>
        <Button type="submit" variant="default" loading={changing.isPending}>
          Change the password
        </Button>
      </div>
    </Stack>
  )
}
