import { Button, Checkbox, Menu, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPlay } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { WarehouseDestination } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { messageOf } from '../ui/states.tsx'
import { isolated } from '../ui/text.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { KeyFields } from './warehouse-form.tsx'
import { ScheduleFields } from './warehouse-schedule.tsx'
import { text } from './warehouse-text.ts'

const { one: words } = text

/** The actions for a destination, for people who may export. */
export function DestinationActions({ destination }: { destination: WarehouseDestination }) {
  const { destination_id, status, name } = destination
  const navigate = useNavigate()
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'edit' | 'full' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const run = useOperation('runWarehouseExport', {
    onDone: ({ is_new: isNew }, { full }) => {
      if (!full) notifications.show({ message: isNew ? words.started : words.underWay })
    },
    onError,
  })
  const test = useOperation('testWarehouseDestination', {
    onDone: () => notifications.show({ message: words.tested }),
    onError,
  })
  const toggle = useOperation(status === 'active' ? 'pauseWarehouseDestination' : 'resumeWarehouseDestination', {
    onError,
  })
  const remove = useOperation('deleteWarehouseDestination', { onDone: () => navigate({ to: '/settings/warehouse' }) })
  if (!useMay('data:export')) return null
  return (
    <>
      <Button
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        loading={run.isPending}
        onClick={() => run.mutate({ destination_id })}
      >
        {words.run}
      </Button>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate({ destination_id })}>
        {words.test}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button ref={button} variant="default" px="xs" aria-label={words.more}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => toggle.mutate({ destination_id })}>
            {status === 'active' ? words.pause : words.resume}
          </Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('edit'))}>{words.edit}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('full'))}>{words.full}</Menu.Item>
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'edit' ? <EditDialog destination={destination} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'full'}
        onClose={close}
        title={words.fullTitle}
        explanation={<Text size="sm">{words.fullExplanation}</Text>}
        confirmLabel={words.fullConfirm}
        onConfirm={() => run.mutateAsync({ destination_id, full: true })}
      />
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={words.removeTitle(isolated(name.slice(0, 80)))}
        explanation={<Text size="sm">{words.removeExplanation}</Text>}
        confirmLabel={words.removeConfirm}
        onConfirm={() => remove.mutateAsync({ destination_id })}
      />
    </>
  )
}

function EditDialog({ destination, onClose }: { destination: WarehouseDestination; onClose: () => void }) {
  const [name, setName] = useState(destination.name)
  const [schedule, setSchedule] = useState<{ schedule: string | null; time_zone: string }>({
    schedule: destination.schedule,
    time_zone: destination.time_zone,
  })
  const [replacesKeys, setReplacesKeys] = useState(false)
  const [keys, setKeys] = useState({ access_key_id: destination.access_key_id ?? '', secret_access_key: '' })
  const saving = useOperation('updateWarehouseDestination', { onDone: onClose })
  const { destination_id } = destination
  return (
    <FormDialog
      title={text.edit.title}
      submit={text.edit.submit}
      size="lg"
      sending={saving}
      onSubmit={() => saving.mutate({ destination_id, name: name.trim(), ...schedule, ...(replacesKeys ? keys : {}) })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
      <ScheduleFields value={schedule} onChange={setSchedule} />
      {destination.type === 's3' ? (
        <Checkbox
          label={text.edit.keys}
          checked={replacesKeys}
          onChange={(event) => setReplacesKeys(event.currentTarget.checked)}
        />
      ) : null}
      {replacesKeys ? <KeyFields value={keys} onChange={setKeys} /> : null}
    </FormDialog>
  )
}
