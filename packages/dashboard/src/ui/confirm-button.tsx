import { Button, type ButtonProps, Group, Modal, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Form, FormError } from './form.tsx'
import { text } from './text.ts'

interface ConfirmDialogProps {
  opened: boolean
  onClose: () => void
  title: string
  /** What will happen, and whether it can be undone. */
  explanation: ReactNode
  /** The label of the confirming button. */
  confirmLabel: string
  /** A word to type first, for actions that cannot be undone. */
  typeToConfirm?: string | undefined
  onConfirm: () => Promise<unknown>
}

interface ConfirmButtonProps extends ButtonProps, Omit<ConfirmDialogProps, 'opened' | 'onClose'> {
  /** The label of the button. */
  children: ReactNode
}

/** A button that asks for confirmation, and shows the error if the action fails. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { children, title, explanation, confirmLabel, typeToConfirm, onConfirm, ...button } = props
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {children}
      </Button>
      <ConfirmDialog
        opened={isOpen}
        onClose={close}
        {...{ title, explanation, confirmLabel, typeToConfirm, onConfirm }}
      />
    </>
  )
}

/** Asks for confirmation, and shows the error if the action fails. */
export function ConfirmDialog({ opened, onClose, title, ...content }: ConfirmDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <ConfirmForm onClose={onClose} {...content} />
    </Modal>
  )
}

function ConfirmForm(props: Omit<ConfirmDialogProps, 'opened' | 'title'>) {
  const { onClose, explanation, confirmLabel, typeToConfirm, onConfirm } = props
  const [typed, setTyped] = useState('')
  const action = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const isSure = typeToConfirm === undefined || typed.trim() === typeToConfirm
  return (
    <Form onSubmit={() => isSure && !action.isPending && action.mutate()}>
      <div>{explanation}</div>
      {typeToConfirm === undefined ? null : (
        <TextInput
          label={text.confirm.type(typeToConfirm)}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
      <FormError error={action.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {text.cancel}
        </Button>
        <Button type="submit" color="red" disabled={!isSure} loading={action.isPending}>
          {confirmLabel}
        </Button>
      </Group>
    </Form>
  )
}
