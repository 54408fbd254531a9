import { Alert, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { messageOf } from '../ui/states.tsx'

interface PasswordDialogProps {
  /** What the button says. */
  label: string
  title: string
  explanation: string
  onConfirm: (password: string) => Promise<unknown>
}

/** A button for what only the person themselves may do: it asks for the password first. */
export function PasswordDialog({ label, title, explanation, onConfirm }: PasswordDialogProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const [password, setPassword] = useState('')
  const action = useMutation({ mutationFn: () => onConfirm(password), onSuccess: close })
  const show = () => {
    setPassword('')
    action.reset()
    open()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    action.mutate()
  }
  return (
    <>
      <Button variant="default" onClick={show}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <Stack component="form" gap="md" onSubmit={submit}>
          <Text size="sm">{explanation}</Text>
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            data-autofocus
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            visibilityToggleButtonProps={{ 'aria-label': 'Show your password', tabIndex: 0, 'aria-hidden': false }}
          />
          {action.isError ? (
            <Alert color="red" role="alert">
              {messageOf(action.error)}
            </Alert>
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              Continue
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
