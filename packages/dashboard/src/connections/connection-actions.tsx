import { Button, Menu, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Connection, Connector } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { messageOf } from '../ui/states.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { ActivitiesDialog } from './activities-dialog.tsx'
import { EditDialog, isEditable } from './edit-dialog.tsx'
import { text } from './text.ts'
import { WriteBackDialog } from './write-back-dialog.tsx'

interface ConnectionActionsProps {
  connection: Connection
  connector: Connector | undefined
  label: string
}

/** The actions for a connected system, for people who may use them. */
export function ConnectionActions({ connection, connector, label }: ConnectionActionsProps) {
  const { connection_id, state } = connection
  const navigate = useNavigate()
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const isPaused = state === 'paused'
  const pulling = useOperation('pullConnection', { onError })
  const toggling = useOperation(isPaused ? 'resumeConnection' : 'pauseConnection', { onError })
  const remove = useOperation('deleteConnection', { onDone: () => navigate({ to: '/connections' }) })
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'reread' | 'edit' | 'write-back' | 'activities' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const isReadable = !isPaused && state !== 'signed_out'
  if (!useMay('settings:write')) return null
  return (
    <>
      {isReadable ? (
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={pulling.isPending || state === 'pulling'}
          onClick={() => pulling.mutate({ connection_id })}
        >
          {text.actions.pull}
        </Button>
      ) : null}
      <Button
        variant="default"
        loading={toggling.isPending}
        leftSection={isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
        onClick={() => toggling.mutate({ connection_id })}
      >
        {isPaused ? text.actions.resume : text.actions.pause}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button ref={button} variant="default" px="xs" aria-label={text.actions.more}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {isReadable ? (
            <Menu.Item onClick={afterFocus(() => setDialog('reread'))}>{text.actions.reread}</Menu.Item>
          ) : null}
          {connector && isEditable(connector) ? (
            <Menu.Item onClick={afterFocus(() => setDialog('edit'))}>{text.actions.edit}</Menu.Item>
          ) : null}
          {connector?.can_write_back ? (
            <Menu.Item onClick={afterFocus(() => setDialog('write-back'))}>{text.writeBack.title(label)}</Menu.Item>
          ) : null}
          {connector?.can_store_activities ? (
            <Menu.Item onClick={afterFocus(() => setDialog('activities'))}>{text.activities.title(label)}</Menu.Item>
          ) : null}
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {text.actions.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'reread' ? <RereadDialog connection={connection} onClose={close} /> : null}
      {dialog === 'edit' && connector ? <EditDialog {...{ connection, connector, label, onClose: close }} /> : null}
      {dialog === 'write-back' ? <WriteBackDialog connection={connection} label={label} onClose={close} /> : null}
      {dialog === 'activities' ? <ActivitiesDialog connection={connection} label={label} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.actions.removeTitle(label)}
        explanation={text.actions.removeExplanation}
        confirmLabel={text.actions.removeConfirm}
        onConfirm={() => remove.mutateAsync({ connection_id })}
      />
    </>
  )
}

function RereadDialog({ connection: { connection_id }, onClose }: { connection: Connection; onClose: () => void }) {
  const [since, setSince] = useState('')
  const ordering = useOperation('rereadConnection', { onDone: onClose })
  return (
    <FormDialog
      title={text.reread.title}
      submit={text.reread.submit}
      sending={ordering}
      onSubmit={() => ordering.mutate({ connection_id, ...(since === '' ? {} : { since }) })}
      onClose={onClose}
    >
      <Text size="sm">{text.reread.explanation}</Text>
      <TextInput
        type="date"
        data-autofocus
        label={text.reread.since}
        description={text.reread.sinceHint}
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
