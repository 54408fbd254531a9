import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Form } from './form.tsx'
import { PropertyRow } from './property-row.tsx'
import { type PropertyValue, propertyText } from './property-value.ts'
import { messageOf } from './states.tsx'
import { text } from './text.ts'
import { upTo } from './up-to.ts'

export type PropertyMap = Record<string, PropertyValue>

interface PropertyEditorProps {
  properties: PropertyMap
  /** Keys that come first, and are offered even without a value. */
  first: readonly string[]
  /** Keys that cannot be removed. */
  mustStay?: readonly string[]
  /** Keys with a fixed set of values. */
  choices?: Record<string, readonly string[]>
  /** Where each value came from. */
  provenance?: Record<string, { source: string; updated_at: string }> | undefined
  /** Undefined if nothing may be changed. Null removes a key. */
  onSave: ((changes: Record<string, PropertyValue | null>) => Promise<unknown>) | undefined
}

/** The properties of a record, edited in place. */
export function PropertyEditor(props: PropertyEditorProps) {
  const { properties, first, mustStay = [], choices = {}, provenance, onSave } = props
  const others = Object.keys(properties).filter((key) => !first.includes(key))
  const shown = [...first.filter((key) => onSave || key in properties), ...others.sort()]
  return (
    <>
      <Title order={2} size="h5" mb={4}>
        {text.properties.title}
      </Title>
      <Stack component="dl" gap={0} m={0}>
        {shown.map((name) => (
          <PropertyRow
            key={name}
            name={name}
            value={properties[name]}
            source={provenance?.[name]}
            choices={choices[name]}
            canRemove={!mustStay.includes(name)}
            onSave={onSave && ((value) => onSave({ [name]: value }))}
          />
        ))}
      </Stack>
      {onSave ? <AddProperty known={properties} onSave={onSave} /> : null}
    </>
  )
}

interface AddPropertyProps {
  known: PropertyMap
  onSave: (changes: Record<string, PropertyValue | null>) => Promise<unknown>
}

function AddProperty({ known, onSave }: AddPropertyProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const adding = useMutation({
    mutationFn: () => onSave({ [name.trim()]: value.trim() }),
    onSuccess: () => {
      setOpen(false)
      setName('')
      setValue('')
    },
  })
  if (!isOpen) {
    return (
      <Button
        mt="xs"
        ml={-8}
        variant="subtle"
        style={{ alignSelf: 'flex-start' }}
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {text.properties.add}
      </Button>
    )
  }
  const exists = propertyText(known[name.trim()]) !== ''
  return (
    <Form gap="xs" mt="sm" onSubmit={() => adding.mutate()}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          size="xs"
          label={text.properties.name}
          required
          withAsterisk={false}
          {...upTo(128)}
          autoFocus
          value={name}
          error={exists ? text.properties.exists : undefined}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          size="xs"
          label={text.properties.value}
          required
          withAsterisk={false}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      </Group>
      {adding.isError ? (
        <Text size="sm" c="red" role="alert">
          {messageOf(adding.error)}
        </Text>
      ) : null}
      <Group gap="xs">
        <Button type="submit" size="compact-sm" loading={adding.isPending} disabled={exists}>
          {text.properties.submit}
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={() => setOpen(false)}>
          {text.cancel}
        </Button>
      </Group>
    </Form>
  )
}
