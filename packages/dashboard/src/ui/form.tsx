import { Alert, Button, Group } from '@mantine/core'
import { messageOf } from './states.tsx'

/** Why a form was not saved; nothing without an error. */
export function FormError({ error }: { error: unknown }) {
  if (!error) return null
  return (
    <Alert color="red" role="alert">
      {messageOf(error)}
    </Alert>
  )
}

interface FormButtonsProps {
  submit: string
  cancel: string
  isPending: boolean
  onCancel: () => void
}

/** The buttons at the end of a form. */
export function FormButtons({ submit, cancel, isPending, onCancel }: FormButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button type="submit" loading={isPending}>
        {submit}
      </Button>
    </Group>
  )
}
