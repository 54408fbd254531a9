import { Alert, Button, type ButtonProps, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { messageOf } from './states.tsx'

interface ConfirmButtonProps extends ButtonProps {
  /** The label of the button. */
  children: ReactNode
  title: string
  /** What will happen, and whether it can be undone. */
  explanation: ReactNode
  /** The label of the confirming button. */
  confirmLabel: string
  /** A word to type first, for actions that cannot be undone. */
  typeToConfirm?: string
  onConfirm: () => Promise<unknown>
}

/** A button that asks for confirmation, and shows the error if the action fails. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { children, title, explanation, confirmLabel, typeToConfirm, onConfirm, ...button } = props
  const [isOpen, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const action = useMutation({ mutationFn: onConfirm, onSuccess: close })
  const show = () => {
    setTyped('')
    action.reset()
    open()
  }
  const isSure = typeToConfirm === undefined || typed.trim() === typeToConfirm
  return (
    <>
      <Button variant="default" {...button} onClick={show}>
        {children}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <Stack
          component="form"
          gap="md"
          onSubmit={(event) => {
            event.preventDefault()
            if (isSure && !action.isPending) action.mutate()
          }}
        >
          <div>{explanation}</div>
          {typeToConfirm === undefined ? null : (
            <TextInput
              label={`Type ${typeToConfirm} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {action.isError ? (
            <Alert color="red" role="alert">
              {messageOf(action.error)}
            </Alert>
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" color="red" disabled={!isSure} loading={action.isPending}>
              {confirmLabel}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
