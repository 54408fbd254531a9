import { Group, PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { WarehouseDestination } from '../api/types.ts'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { upTo } from '../ui/up-to.ts'
import { ScheduleFields } from './warehouse-schedule.tsx'
import { text } from './warehouse-text.ts'

const { create: words } = text

interface DialogProps {
  /** Whether the operator has set a folder. */
  hasFolders: boolean
  onClose: () => void
}

interface Keys {
  access_key_id: string
  secret_access_key: string
}

/** The fields of an access key. */
export function KeyFields({ value, onChange }: { value: Keys; onChange: (keys: Keys) => void }) {
  return (
    <>
      <TextInput
        label={words.accessKeyId}
        required
        autoComplete="off"
        value={value.access_key_id}
        onChange={(event) => onChange({ ...value, access_key_id: event.currentTarget.value })}
        {...upTo(200)}
      />
      <PasswordInput
        label={words.secretAccessKey}
        required
        autoComplete="new-password"
        value={value.secret_access_key}
        onChange={(event) => onChange({ ...value, secret_access_key: event.currentTarget.value })}
        {...upTo(200)}
      />
    </>
  )
}

/** The form for a new export destination. */
export function NewDestinationDialog({ hasFolders, onClose }: DialogProps) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [type, setType] = useState<WarehouseDestination['type']>('s3')
  const [place, setPlace] = useState({ endpoint: '', region: '', bucket: '', prefix: '' })
  const [keys, setKeys] = useState({ access_key_id: '', secret_access_key: '' })
  const [schedule, setSchedule] = useState<{ schedule: string | null; time_zone: string }>({
    schedule: 'daily',
    time_zone: 'UTC',
  })
  const creating = useOperation('createWarehouseDestination', {
    onDone: ({ destination: { destination_id: destinationId } }) =>
      navigate({ to: '/settings/warehouse/$destinationId', params: { destinationId } }),
  })
  const create = () => {
    const { prefix, endpoint, region, bucket } = place
    const storage = { endpoint: endpoint.trim(), bucket: bucket.trim(), ...keys }
    creating.mutate({
      name: name.trim(),
      type,
      prefix: prefix.trim(),
      ...schedule,
      ...(type === 's3' ? { ...storage, ...(region.trim() === '' ? {} : { region: region.trim() }) } : {}),
    })
  }
  const field = (key: keyof typeof place, isRequired: boolean, length: number, placeholder?: string) => (
    <TextInput
      label={words[key]}
      required={isRequired}
      value={place[key]}
      onChange={(event) => setPlace({ ...place, [key]: event.currentTarget.value })}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(key === 'prefix' ? { description: words.prefixDescription } : {})}
      {...upTo(length)}
    />
  )
  return (
    <FormDialog
      title={words.title}
      submit={words.submit}
      size="lg"
      sending={creating}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
      {hasFolders ? (
        <Radio.Group
          label={words.type}
          value={type}
          onChange={(value) => setType(value === 'folder' ? 'folder' : 's3')}
        >
          <Stack gap="xs" mt="xs">
            {(['s3', 'folder'] as const).map((each) => (
              <Radio
                key={each}
                value={each}
                label={words.types[each].label}
                description={words.types[each].description}
              />
            ))}
          </Stack>
        </Radio.Group>
      ) : null}
      {type === 's3' ? (
        <>
          {field('endpoint', true, 500, words.endpointPlaceholder)}
          <Group grow align="start">
            {field('bucket', true, 63)}
            {field('region', false, 60, 'us-east-1')}
          </Group>
          <KeyFields value={keys} onChange={setKeys} />
        </>
      ) : null}
      {field('prefix', false, 500)}
      <ScheduleFields value={schedule} onChange={setSchedule} />
    </FormDialog>
  )
}
