import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Property } from '../api/types.ts'
import { choicesOf, type PropertyValue, typedValue } from '../ui/property-value.ts'
import { type BulkActionProps, BulkDialog } from './bulk-dialog.tsx'
import { text } from './text.ts'

/** Keys of records, which cannot be the same for several. */
const KEYS = ['email', 'name', 'domain']

/** Sets a property of many records, or removes it. */
export function BulkProperty(props: BulkActionProps) {
  const { entity, count } = props
  const { data } = useQuery(queryOf('listProperties', { entity }))
  const [name, setName] = useState('')
  const [typed, setTyped] = useState('')
  const properties = (data?.properties ?? []).filter((each) => each.is_editable && !KEYS.includes(each.name))
  const property = properties.find((each) => each.name === name)
  const change = property
    ? { set: { properties: { [property.name]: typedValue(typed, EXAMPLES[property.type]) } } }
    : undefined
  const choices = property ? choicesFor(property) : undefined
  return (
    <BulkDialog
      {...props}
      title={text.bulk.setTitle(entity, count)}
      confirmLabel={text.bulk.setButton(entity, count)}
      change={change}
    >
      <NativeSelect
        label={text.bulk.property}
        data-autofocus
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value)
          setTyped('')
        }}
        data={[
          { value: '', label: text.bulk.choose },
          ...properties.map((each) => ({ value: each.name, label: each.label })),
        ]}
      />
      {choices ? (
        <NativeSelect
          label={text.bulk.value}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data={[{ value: '', label: text.bulk.none }, ...choices]}
        />
      ) : (
        <TextInput
          label={text.bulk.value}
          description={text.bulk.valueHint}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </BulkDialog>
  )
}

/** A value of each type: what is typed becomes one of the same type. */
const EXAMPLES: Partial<Record<Property['type'], PropertyValue>> = { number: 0, boolean: true, list: [] }

function choicesFor({ name, type, choices }: Property) {
  if (choices) return choicesOf(name, choices)
  if (type !== 'boolean') return undefined
  return [
    { value: 'true', label: text.bulk.yes },
    { value: 'false', label: text.bulk.no },
  ]
}
