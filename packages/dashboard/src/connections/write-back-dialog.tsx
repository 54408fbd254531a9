import { Group, Modal, NativeSelect, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Connection,
  refreshConnections,
  setConnectionWriteBack,
  type WriteBackProperty,
} from '../api/connections.ts'
import { propertiesQuery } from '../api/properties.ts'
import { FieldRows } from '../ui/field-rows.tsx'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'
import { writeBackProblems } from './write-back-problems.ts'

const words = text.writeBack
const CONFLICTS = ['newest', 'ours', 'theirs'] as const
const TARGET_LENGTH_MAX = 100
/** Three in a row; on a phone, one below the other. */
const FIELD_WIDTH = '1 1 150px'

interface WriteBackDialogProps {
  connection: Connection
  label: string
  opened: boolean
  onClose: () => void
}

/** Chooses which contact properties are written back to the system. */
export function WriteBackDialog({ connection, label, opened, onClose }: WriteBackDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} size="lg" title={words.title(label)}>
      <WriteBackForm connection={connection} label={label} onClose={onClose} />
    </Modal>
  )
}

function WriteBackForm({ connection, label, onClose }: Omit<WriteBackDialogProps, 'opened'>) {
  const queryClient = useQueryClient()
  const before = connection.write_back
  const [rows, setRows] = useState<WriteBackProperty[]>(before?.properties ?? [newRow()])
  const [createsMissing, setCreatesMissing] = useState(before?.create_missing ?? false)
  const saving = useMutation({
    mutationFn: (properties: WriteBackProperty[]) =>
      setConnectionWriteBack(connection.connection_id, { properties, create_missing: createsMissing }),
    onSuccess: async () => {
      await refreshConnections(queryClient)
      onClose()
    },
  })
  const submit = () => {
    const filled = rows.filter(({ property, target }) => property !== '' || target !== '')
    setRows(filled)
    saving.mutate(filled)
  }
  const problems = writeBackProblems(saving.error, saving.variables ?? [])
  return (
    <Form onSubmit={submit}>
      <Text size="sm">{words.explanation(label)}</Text>
      <FieldRows rows={rows} onChange={setRows} newRow={newRow} addLabel={words.add} removeLabel={words.remove}>
        {(row, number, change) => (
          <PropertyFields
            row={row}
            number={number}
            label={label}
            problemOf={(field) => problems.at(row, field)}
            change={change}
          />
        )}
      </FieldRows>
      <Switch
        label={words.createMissing(label)}
        description={words.createMissingHint}
        checked={createsMissing}
        onChange={(event) => setCreatesMissing(event.currentTarget.checked)}
      />
      <FormError error={problems.elsewhere} />
      <FormButtons submit={text.edit.submit} cancel={text.cancel} isPending={saving.isPending} onCancel={onClose} />
    </Form>
  )
}

interface PropertyFieldsProps {
  row: WriteBackProperty
  number: number
  label: string
  /** What the service refused about a field, as the end of a sentence. */
  problemOf: (field: keyof WriteBackProperty) => string | undefined
  change: (changes: Partial<WriteBackProperty>) => void
}

function PropertyFields({ row, number, label, problemOf, change }: PropertyFieldsProps) {
  const { data } = useQuery(propertiesQuery('contacts'))
  const editable = (data?.properties ?? []).filter(({ is_editable, name }) => is_editable && name !== 'email')
  const known = editable.map(({ name, label: shown }) => ({ value: name, label: shown }))
  // The property may no longer exist on any contact, or the others have not been loaded yet.
  const own = row.property === '' || known.some(({ value }) => value === row.property) ? [] : [row.property]
  return (
    <Group flex={1} gap="xs" align="flex-start">
      <NativeSelect
        flex={FIELD_WIDTH}
        aria-label={words.property(number)}
        value={row.property}
        error={problemOf('property')}
        onChange={({ currentTarget: { value } }) =>
          // Most systems use the same names for common properties.
          change({ property: value, ...(row.target === '' ? { target: value } : {}) })
        }
        data={[{ value: '', label: words.choose }, ...known, ...own]}
      />
      <TextInput
        flex={FIELD_WIDTH}
        aria-label={words.target(label, number)}
        placeholder={words.targetPlaceholder(label)}
        value={row.target}
        error={problemOf('target')}
        onChange={(event) => change({ target: event.currentTarget.value })}
        {...upTo(TARGET_LENGTH_MAX)}
      />
      <NativeSelect
        flex={FIELD_WIDTH}
        aria-label={words.conflict(number)}
        value={row.conflict}
        error={problemOf('conflict')}
        onChange={(event) => change({ conflict: event.currentTarget.value as WriteBackProperty['conflict'] })}
        data={CONFLICTS.map((value) => ({ value, label: words.conflicts(label)[value] }))}
      />
    </Group>
  )
}

function newRow(): WriteBackProperty {
  return { property: '', target: '', conflict: 'newest' }
}
