import { Alert, Button, Modal, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormButtons } from './form.tsx'
import { Problem } from './problem.tsx'
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
export function CreateDialog({ title, fields, isOpenAtFirst = false, onCreate, onCancel }: CreateDialogProps) {
  const [isOpen, { open, close }] = useDisclosure(isOpenAtFirst)
  const [values, setValues] = useState<Record<string, string>>({})
  const making = useMutation({
    mutationFn: () => {
      const filled = Object.entries(values).map(([name, value]) => [name, value.trim()])
      return onCreate(Object.fromEntries(filled.filter(([, value]) => value !== '')))
    },
    onSuccess: close,
  })
  const cancel = () => {
    close()
    onCancel?.()
  }
  const show = () => {
    setValues({})
    making.reset()
    open()
  }
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={show}>
        {title}
      </Button>
      <Modal opened={isOpen} onClose={cancel} title={title}>
        <Form onSubmit={() => making.mutate()}>
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
          {making.isError ? (
            <Alert color="red" role="alert">
              <Problem error={making.error} />
            </Alert>
          ) : null}
          <FormButtons submit={text.create} cancel={text.cancel} isPending={making.isPending} onCancel={cancel} />
        </Form>
      </Modal>
    </>
  )
}
