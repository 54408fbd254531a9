import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem } from './problem.tsx'

interface CreateDialogProps {
  /** The label of the button and the dialog ("New contact"). */
  title: string
  fields: { name: string; label: string; type?: 'email' | 'text'; required?: boolean }[]
  /** Called with the values that are not empty. */
  onCreate: (values: Record<string, string>) => Promise<unknown>
}

/** A button with a small form that creates a record. */
export function CreateDialog({ title, fields, onCreate }: CreateDialogProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const [values, setValues] = useState<Record<string, string>>({})
  const making = useMutation({
    mutationFn: () => {
      const filled = Object.entries(values).map(([name, value]) => [name, value.trim()])
      return onCreate(Object.fromEntries(filled.filter(([, value]) => value !== '')))
    },
    onSuccess: close,
  })
  const show = () => {
    setValues({})
    making.reset()
    open()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={show}>
        {title}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        <Stack component="form" onSubmit={submit}>
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
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={making.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
