import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { requestPasswordReset } from '../api/session.ts'
import { messageOf } from '../ui/states.tsx'

interface ForgottenPasswordProps {
  /** The address from the sign-in form. */
  email: string
  /** Whether the service can send mail; otherwise the operator creates the link. */
  canMail: boolean
}

/** Instructions for a forgotten password. */
export function ForgottenPassword({ email, canMail }: ForgottenPasswordProps) {
  const [isOpen, setOpen] = useState(false)
  const asking = useMutation({ mutationFn: () => requestPasswordReset(email.trim()) })
  return (
    <Stack gap="xs">
      <Anchor
        component="button"
        type="button"
        size="sm"
        ta="left"
        onClick={() => setOpen(!isOpen)}
        aria-expanded={isOpen}
      >
        Forgotten your password?
      </Anchor>
      {isOpen && !canMail ? (
        <Text size="sm" c="dimmed">
          The operator of this service can create a reset link for you on the command line.
        </Text>
      ) : null}
      {isOpen && canMail && !asking.isSuccess ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm" c="dimmed">
            Fill in your e-mail address above: we send you a link to set a new one.
          </Text>
          <Button
            variant="default"
            size="xs"
            disabled={email.trim() === ''}
            loading={asking.isPending}
            onClick={() => asking.mutate()}
          >
            Send the link
          </Button>
        </Stack>
      ) : null}
      {asking.isSuccess ? (
        <Alert color="green" role="status">
          If an account with this address exists, the link has been sent.
        </Alert>
      ) : null}
      {asking.isError ? (
        <Alert color="red" role="alert">
          {messageOf(asking.error)}
        </Alert>
      ) : null}
    </Stack>
  )
}
