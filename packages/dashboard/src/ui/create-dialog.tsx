import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from './form-dialog.tsx'
import { text } from './text.ts'

interface CreateDialogProps {
  /** The label of the button and the dialog ("New contact"). */
  title: string
  fields: { name: string; label: string; type?: 'email' | 'text'; required?: boolean }[]
  /** Whether the form is shown before the button is pressed: a link may lead to it. */
  isOpenAtFirst?: boolean
  /** Called with the values that are not empty. */
  onCreate: (values: Record<string, string>) => Promise<unknown>
  /** Called when the form is closed without creating anything. */
  onCancel?: () => unknown
}

/** A button with a small form that creates a record. */
export function CreateDialog({ title, isOpenAtFirst = false, onCancel, ...form }: CreateDialogProps) {
  const [isOpen, { open, close }] = useDisclosure(isOpenAtFirst)
  const cancel = () => {
    close()
    onCancel?.()
  }
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        {title}
      </Button>
      {isOpen ? <CreateForm title={title} onDone={close} onCancel={cancel} {...form} /> : null}
    </>
  )
}

interface CreateFormProps extends Pick<CreateDialogProps, 'title' | 'fields' | 'onCreate'> {
  onDone: () => void
  onCancel: () => void
}

function CreateForm({ title, fields, onCreate, onDone, onCancel }: CreateFormProps) {
  const [values, setValues] = useState<Record<string, string>>({})
  const creating = useMutation({
    mutationFn: () => {
      const filled = Object.entries(values).map(([name, value]) => [name, value.trim()])
      return onCreate(Object.fromEntries(filled.filter(([, value]) => value !== '')))
    },
    onSuccess: onDone,
  })
  return (
    <FormDialog
      title={title}
      submit={text.create}
      sending={creating}
      onSubmit={() => creating.mutate()}
      onClose={onCancel}
    >
      {fields.map(({ name, label, type = 'text', required = false }, index) => (
        <TextInput
          key={name}
          type={type}
          label={label}
          required={required}
          data-autofocus={index === 0 || undefined}
          value={values[name] ?? ''}
          onChange={({ currentTarget: { value } }) => setValues((before) => ({ ...before, [name]: value }))}
        />
      ))}
    </FormDialog>
  )
}
