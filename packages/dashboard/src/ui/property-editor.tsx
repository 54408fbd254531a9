import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
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
  /** The usual keys in groups. Without them, there is one list. */
  groups?: readonly { label: string; names: readonly string[] }[]
  /** Keys that cannot be removed. */
  mustStay?: readonly string[]
  /** Keys that only the service writes. */
  computed?: readonly string[]
  /** Keys with a fixed set of values. */
  choices?: Record<string, readonly string[]>
  /** Where each value came from. */
  provenance?: Record<string, { source: string; updated_at: string }> | undefined
  /** Undefined if nothing may be changed. Null removes a key. */
  onSave: ((changes: Record<string, PropertyValue | null>) => Promise<unknown>) | undefined
}

/** The properties of a record, edited in place. */
export function PropertyEditor(props: PropertyEditorProps) {
  const { properties, first, groups = [], mustStay = [], computed = [], choices = {}, provenance, onSave } = props
  const [showsEmpty, setShowsEmpty] = useState(false)
  const offered = onSave ? first : []
  const all = [...new Set([...first.filter((key) => key in properties), ...offered, ...Object.keys(properties).sort()])]
  const isEmpty = (name: string) => propertyText(properties[name]) === ''
  const empty = all.filter(isEmpty)
  const shown = showsEmpty || groups.length === 0 ? all : all.filter((name) => !isEmpty(name))
  const grouped = groups.map(({ label, names }) => ({ label, names: names.filter((name) => shown.includes(name)) }))
  const inGroups = new Set(grouped.flatMap(({ names }) => names))
  const others = shown.filter((name) => !inGroups.has(name))
  const parts = [...grouped, { label: text.properties.others, names: others }].filter(({ names }) => names.length > 0)
  return (
    <>
      <Title order={2} size="h5" mb={4}>
        {text.properties.title}
      </Title>
      {parts.map(({ label, names }) => (
        <Fragment key={label}>
          {groups.length > 0 && parts.length > 1 ? (
            <Title order={3} size="xs" c="dimmed" fw={600} mt="sm">
              {label}
            </Title>
          ) : null}
          <Stack component="dl" gap={0} m={0}>
            {names.map((name) => (
              <PropertyRow
                key={name}
                name={name}
                value={properties[name]}
                source={provenance?.[name]}
                choices={choices[name]}
                canRemove={!mustStay.includes(name)}
                onSave={computed.includes(name) ? undefined : onSave && ((value) => onSave({ [name]: value }))}
              />
            ))}
          </Stack>
        </Fragment>
      ))}
      {groups.length > 0 && empty.length > 0 ? (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          ml={-6}
          mt="xs"
          onClick={() => setShowsEmpty(!showsEmpty)}
        >
          {showsEmpty ? text.properties.hideEmpty : text.properties.showEmpty(empty.length)}
        </Button>
      ) : null}
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
