import { Button, Checkbox, Menu, Modal, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteWarehouseDestination,
  refreshWarehouse,
  runWarehouseExport,
  setPaused,
  testWarehouseDestination,
  updateWarehouseDestination,
  type WarehouseDestination,
} from '../api/warehouse.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { Form, FormError } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { isolated } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { KeyFields } from './warehouse-form.tsx'
import { ScheduleFields } from './warehouse-schedule.tsx'
import { text } from './warehouse-text.ts'

const { one: words } = text

/** The actions for a destination, for people who may export. */
export function DestinationActions({ destination }: { destination: WarehouseDestination }) {
  const { destination_id: id, status, name } = destination
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'edit' | 'full' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const refresh = () => refreshWarehouse(queryClient)
  const run = useMutation({
    mutationFn: () => runWarehouseExport(id),
    onSuccess: async ({ is_new: isNew }) => {
      notifications.show({ message: isNew ? words.started : words.underWay })
      await refresh()
    },
    onError,
  })
  const test = useMutation({
    mutationFn: () => testWarehouseDestination(id),
    onSuccess: () => notifications.show({ message: words.tested }),
    onError,
  })
  const toggle = useMutation({ mutationFn: () => setPaused(id, status === 'active'), onSuccess: refresh, onError })
  if (!useMay('data:export')) return null
  return (
    <>
      <Button
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        loading={run.isPending}
        onClick={() => run.mutate()}
      >
        {words.run}
      </Button>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        {words.test}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button ref={button} variant="default" px="xs" aria-label={words.more}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => toggle.mutate()}>{status === 'active' ? words.pause : words.resume}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('edit'))}>{words.edit}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('full'))}>{words.full}</Menu.Item>
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog === 'edit'} onClose={close} title={text.edit.title} size="lg">
        <EditForm destination={destination} onSaved={close} />
      </Modal>
      <ConfirmDialog
        opened={dialog === 'full'}
        onClose={close}
        title={words.fullTitle}
        explanation={<Text size="sm">{words.fullExplanation}</Text>}
        confirmLabel={words.fullConfirm}
        onConfirm={async () => {
          await runWarehouseExport(id, true)
          await refresh()
        }}
      />
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={words.removeTitle(isolated(name.slice(0, 80)))}
        explanation={<Text size="sm">{words.removeExplanation}</Text>}
        confirmLabel={words.removeConfirm}
        onConfirm={async () => {
          await deleteWarehouseDestination(id)
          await navigate({ to: '/settings/warehouse' })
          await refresh()
        }}
      />
    </>
  )
}

function EditForm({ destination, onSaved }: { destination: WarehouseDestination; onSaved: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(destination.name)
  const [schedule, setSchedule] = useState<{ schedule: string | null; time_zone: string }>({
    schedule: destination.schedule,
    time_zone: destination.time_zone,
  })
  const [replacesKeys, setReplacesKeys] = useState(false)
  const [keys, setKeys] = useState({ access_key_id: destination.access_key_id ?? '', secret_access_key: '' })
  const saving = useMutation({
    mutationFn: async () => {
      const changes = { name: name.trim(), ...schedule, ...(replacesKeys ? keys : {}) }
      await updateWarehouseDestination(destination.destination_id, changes)
      await refreshWarehouse(queryClient)
    },
    onSuccess: onSaved,
  })
  return (
    <Form onSubmit={() => saving.mutate()}>
      <TextInput
        label={text.create.name}
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        {...upTo(200)}
      />
      <ScheduleFields value={schedule} onChange={setSchedule} />
      {destination.type === 's3' ? (
        <Checkbox
          label={text.edit.keys}
          checked={replacesKeys}
          onChange={(event) => setReplacesKeys(event.currentTarget.checked)}
        />
      ) : null}
      {replacesKeys ? <KeyFields value={keys} onChange={setKeys} /> : null}
      <FormError error={saving.error} />
      <Button type="submit" ml="auto" loading={saving.isPending}>
        {text.edit.submit}
      </Button>
    </Form>
  )
}
