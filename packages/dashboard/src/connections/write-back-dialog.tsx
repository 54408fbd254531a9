import { Group, NativeSelect, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Connection, WriteBackProperty } from '../api/types.ts'
import { FieldRows } from '../ui/field-rows.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
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
  onClose: () => void
}

/** Chooses which contact properties are written back to the system. */
export function WriteBackDialog({ connection, label, onClose }: WriteBackDialogProps) {
  const { connection_id, connector, write_back } = connection
  const [rows, setRows] = useState<WriteBackProperty[]>(write_back?.properties ?? [newRow()])
  const [createsMissing, setCreatesMissing] = useState(write_back?.create_missing ?? false)
  const saving = useOperation('setConnectionWriteBack', { onDone: onClose })
  const submit = () => {
    const properties = rows.filter(({ property, target }) => property !== '' || target !== '')
    setRows(properties)
    // Without properties, nothing is written back.
    saving.mutate({ connection_id, properties, create_missing: createsMissing })
  }
  const problems = writeBackProblems(saving.error, saving.variables?.properties ?? [])
  return (
    <FormDialog
      title={words.title(label)}
      submit={text.edit.submit}
      size="lg"
      sending={{ isPending: saving.isPending, error: problems.elsewhere }}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">
        {words.explanation(label)} {words.fieldHints[connector]}
      </Text>
      <FieldRows rows={rows} onChange={setRows} newRow={newRow} addLabel={words.add} removeLabel={words.remove}>
        {(row, number, change) => (
          <PropertyFields
            row={row}
            number={number}
            connector={connector}
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
    </FormDialog>
  )
}

interface PropertyFieldsProps {
  row: WriteBackProperty
  number: number
  connector: string
  label: string
  /** What the service refused about a field, as the end of a sentence. */
  problemOf: (field: keyof WriteBackProperty) => string | undefined
  change: (changes: Partial<WriteBackProperty>) => void
}

function PropertyFields({ row, number, connector, label, problemOf, change }: PropertyFieldsProps) {
  const { data } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
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
          // HubSpot has the same names for common properties.
          change({ property: value, ...(connector === 'hubspot' && row.target === '' ? { target: value } : {}) })
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
