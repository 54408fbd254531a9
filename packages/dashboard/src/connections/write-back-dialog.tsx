import { Alert, Button, Group, Modal, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Connection, refreshConnections, setWriteBack, type WriteBackProperty } from '../api/connections.ts'
import { propertiesQuery } from '../api/properties.ts'
import { FieldRows } from '../ui/field-rows.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

const words = text.writeBack
const CONFLICTS = ['newest', 'ours', 'theirs'] as const
const TARGET_LENGTH_MAX = 100

interface WriteBackDialogProps {
  connection: Connection
  label: string
  opened: boolean
  onClose: () => void
}

/** Chooses which properties of contacts are written to the system. */
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
    mutationFn: () =>
      setWriteBack(connection.connection_id, {
        properties: rows.filter(({ property, target }) => property !== '' || target !== ''),
        create_missing: createsMissing,
      }),
    onSuccess: async () => {
      await refreshConnections(queryClient)
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      <Text size="sm">{words.explanation(label)}</Text>
      <FieldRows rows={rows} onChange={setRows} newRow={newRow} addLabel={words.add} removeLabel={words.remove}>
        {(row, number, change) => <PropertyFields row={row} number={number} label={label} change={change} />}
      </FieldRows>
      <Switch
        label={words.createMissing(label)}
        description={words.createMissingHint}
        checked={createsMissing}
        onChange={(event) => setCreatesMissing(event.currentTarget.checked)}
      />
      {saving.isError ? (
        <Alert color="red" role="alert">
          {messageOf(saving.error)}
        </Alert>
      ) : null}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {text.cancel}
        </Button>
        <Button type="submit" loading={saving.isPending}>
          {text.edit.submit}
        </Button>
      </Group>
    </Stack>
  )
}

interface PropertyFieldsProps {
  row: WriteBackProperty
  number: number
  label: string
  change: (changes: Partial<WriteBackProperty>) => void
}

function PropertyFields({ row, number, label, change }: PropertyFieldsProps) {
  const { data } = useQuery(propertiesQuery('contacts'))
  const editable = (data?.properties ?? []).filter(({ is_editable, name }) => is_editable && name !== 'email')
  const known = editable.map(({ name, label: shown }) => ({ value: name, label: shown }))
  // One that no contact has any more, or before the others have been read.
  const own = row.property === '' || known.some(({ value }) => value === row.property) ? [] : [row.property]
  return (
    <>
      <NativeSelect
        flex={1}
        miw={0}
        aria-label={words.property(number)}
        value={row.property}
        onChange={({ currentTarget: { value } }) =>
          // Most systems name the usual properties alike.
          change({ property: value, ...(row.target === '' ? { target: value } : {}) })
        }
        data={[{ value: '', label: words.choose }, ...known, ...own]}
      />
      <TextInput
        flex={1}
        miw={0}
        aria-label={words.target(label, number)}
        placeholder={words.targetPlaceholder(label)}
        value={row.target}
        onChange={(event) => change({ target: event.currentTarget.value })}
        {...upTo(TARGET_LENGTH_MAX)}
      />
      <NativeSelect
        flex={1}
        miw={0}
        aria-label={words.conflict(number)}
        value={row.conflict}
        onChange={(event) => change({ conflict: event.currentTarget.value as WriteBackProperty['conflict'] })}
        data={CONFLICTS.map((value) => ({ value, label: words.conflicts(label)[value] }))}
      />
    </>
  )
}

function newRow(): WriteBackProperty {
  return { property: '', target: '', conflict: 'newest' }
}
