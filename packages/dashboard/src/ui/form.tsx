import { Alert, Button, Group, Stack, type StackProps } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { Problem } from './problem.tsx'

interface FormProps extends StackProps {
  id?: string
  children: ReactNode
  /** The browser does not submit or reload. */
  onSubmit: () => void
}

/** A form with stacked fields. */
export function Form({ onSubmit, ...stack }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return <Stack component="form" onSubmit={submit} {...stack} />
}

/** Why a form was not saved; nothing without an error. */
export function FormError({ error }: { error: unknown }) {
  if (!error) return null
  return (
    <Alert color="red" role="alert">
      <Problem error={error} />
    </Alert>
  )
}

interface FormButtonsProps {
  submit: string
  cancel: string
  isPending: boolean
  isDisabled?: boolean
  onCancel: () => void
}

/** The buttons at the end of a form. */
export function FormButtons({ submit, cancel, isPending, isDisabled = false, onCancel }: FormButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button type="submit" loading={isPending} disabled={isDisabled}>
        {submit}
      </Button>
    </Group>
  )
}
