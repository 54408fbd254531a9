import { Checkbox, Modal, type ModalProps, Text, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { Form, FormButtons, FormError } from './form.tsx'
import { text } from './text.ts'
import { upTo } from './up-to.ts'

/** What a dialog needs of a mutation, such as that of `useOperation`. */
interface Sending {
  isPending: boolean
  error: Error | null
}

interface FormDialogProps {
  title: string
  /** The label of the button that submits the form. */
  submit: string
  sending: Sending
  onSubmit: () => void
  onClose: () => void
  /** The fields. */
  children: ReactNode
  size?: ModalProps['size']
  isDisabled?: boolean
  /**
   * Replaces the form once it was submitted, such as by a secret that is shown once. Only its own button then closes the
   * dialog, so that a click outside does not lose it.
   */
  result?: { title: string; content: ReactNode } | null
}

/** A form over the page. Render it while it is open: what was typed is forgotten with it. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, sending, onSubmit, onClose, children, size, isDisabled = false, result = null } = props
  const canClose = result === null
  useFocusReturn()
  return (
    <Modal
      opened
      onClose={onClose}
      title={result?.title ?? title}
      size={size}
      closeOnClickOutside={canClose}
      closeOnEscape={canClose}
      withCloseButton={canClose}
    >
      {result?.content ?? (
        <Form onSubmit={() => !sending.isPending && onSubmit()}>
          {children}
          <FormError error={sending.error} />
          <FormButtons
            submit={submit}
            cancel={text.cancel}
            isPending={sending.isPending}
            isDisabled={isDisabled}
            onCancel={onClose}
          />
        </Form>
      )}
    </Modal>
  )
}

/** Gives the focus back to what had it. A Modal does so itself only if it stays rendered when it is closed. */
export function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      // What was done in the dialog may have given it to something else.
      const isLost = () => document.activeElement === null || document.activeElement === document.body
      setTimeout(() => isLost() && before instanceof HTMLElement && before.focus({ preventScroll: true }))
    },
    [before],
  )
}

interface RenameDialogProps {
  title: string
  submit: string
  name: string
  sending: Sending
  onRename: (name: string) => void
  onClose: () => void
}

/** Gives something another name. */
export function RenameDialog({ name, onRename, ...dialog }: RenameDialogProps) {
  const [typed, setTyped] = useState(name)
  return (
    <FormDialog {...dialog} onSubmit={() => onRename(typed.trim())}>
      <NameField value={typed} onChange={setTyped} />
    </FormDialog>
  )
}

interface NameFieldProps {
  label?: string
  value: string
  onChange: (name: string) => void
  description?: string
}

/** The name of a thing, as the first field of a form. */
export function NameField({ label = text.name, value, onChange, description }: NameFieldProps) {
  return (
    <TextInput
      label={label}
      description={description}
      required
      {...upTo(200)}
      data-autofocus
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface RotateDialogProps {
  words: {
    title: string
    titleWhenRotated: string
    explanation: string
    revoke: string
    revokeDescription: string
    submit: string
  }
  sending: Sending
  onRotate: (revokesOld: boolean) => void
  onClose: () => void
  /** The new secret, to be kept by the person; null until there is one. */
  rotated: ReactNode | null
}

/** Replaces a secret, whose successor is shown once. The old one works for a while, unless it is revoked at once. */
export function RotateDialog({ words, sending, onRotate, onClose, rotated }: RotateDialogProps) {
  const [revokesOld, setRevokesOld] = useState(false)
  return (
    <FormDialog
      title={words.title}
      submit={words.submit}
      sending={sending}
      onSubmit={() => onRotate(revokesOld)}
      onClose={onClose}
      size="lg"
      result={rotated === null ? null : { title: words.titleWhenRotated, content: rotated }}
    >
      <Text size="sm">{words.explanation}</Text>
      <Checkbox
        label={words.revoke}
        description={words.revokeDescription}
        checked={revokesOld}
        onChange={(event) => setRevokesOld(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}
