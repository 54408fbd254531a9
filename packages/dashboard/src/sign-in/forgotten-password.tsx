import { Alert, Anchor, Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { requestPasswordReset } from '../session/session.ts'
import { FormError } from '../ui/form.tsx'
import { text } from './text.ts'

interface ForgottenPasswordProps {
  /** The email from the sign-in form. */
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
        {text.forgotten.open}
      </Anchor>
      {isOpen && !canMail ? (
        <Text size="sm" c="dimmed">
          {text.forgotten.askOperator}
        </Text>
      ) : null}
      {isOpen && canMail && !asking.isSuccess ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm" c="dimmed">
            {text.forgotten.explanation}
          </Text>
          <Button
            variant="default"
            size="xs"
            disabled={email.trim() === ''}
            loading={asking.isPending}
            onClick={() => asking.mutate()}
          >
            {text.forgotten.send}
          </Button>
        </Stack>
      ) : null}
      {asking.isSuccess ? (
        <Alert color="green" role="status">
          {text.forgotten.sent}
        </Alert>
      ) : null}
      <FormError error={asking.error} />
    </Stack>
  )
}
