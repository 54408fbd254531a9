import { Button, Menu, Modal, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  type Connection,
  type Connector,
  deleteConnection,
  pauseConnection,
  pullConnection,
  refreshConnections,
  rereadConnection,
  resumeConnection,
} from '../api/connections.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { Form, FormError } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
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
  const { connection_id: id, state } = connection
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const refresh = () => refreshConnections(queryClient)
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const pulling = useMutation({ mutationFn: () => pullConnection(id), onSuccess: refresh, onError })
  const isPaused = state === 'paused'
  const toggling = useMutation({
    mutationFn: () => (isPaused ? resumeConnection(id) : pauseConnection(id)),
    onSuccess: refresh,
    onError,
  })
  const { button, afterFocus } = useMenuButton()
  const [isRereading, rereading] = useDisclosure()
  const [isEditing, editing] = useDisclosure()
  const [isChoosing, choosing] = useDisclosure()
  const [isRemoving, removing] = useDisclosure()
  const isReadable = !isPaused && state !== 'signed_out'
  if (!useMay('settings:write')) return null
  return (
    <>
      {isReadable ? (
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={pulling.isPending || state === 'pulling'}
          onClick={() => pulling.mutate()}
        >
          {text.actions.pull}
        </Button>
      ) : null}
      <Button
        variant="default"
        loading={toggling.isPending}
        leftSection={isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
        onClick={() => toggling.mutate()}
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
          {isReadable ? <Menu.Item onClick={afterFocus(rereading.open)}>{text.actions.reread}</Menu.Item> : null}
          {connector && isEditable(connector) ? (
            <Menu.Item onClick={afterFocus(editing.open)}>{text.actions.edit}</Menu.Item>
          ) : null}
          {connector?.can_write_back ? (
            <Menu.Item onClick={afterFocus(choosing.open)}>{text.writeBack.title(label)}</Menu.Item>
          ) : null}
          <Menu.Item color="red" onClick={afterFocus(removing.open)}>
            {text.actions.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isRereading} onClose={rereading.close} title={text.reread.title}>
        <Reread id={id} onDone={rereading.close} />
      </Modal>
      {connector ? (
        <EditDialog {...{ connection, connector, label, opened: isEditing, onClose: editing.close }} />
      ) : null}
      <WriteBackDialog {...{ connection, label, opened: isChoosing, onClose: choosing.close }} />
      <ConfirmDialog
        opened={isRemoving}
        onClose={removing.close}
        title={text.actions.removeTitle(label)}
        explanation={text.actions.removeExplanation}
        confirmLabel={text.actions.removeConfirm}
        onConfirm={async () => {
          await deleteConnection(id)
          await navigate({ to: '/connections' })
          await refresh()
        }}
      />
    </>
  )
}

function Reread({ id, onDone }: { id: string; onDone: () => void }) {
  const queryClient = useQueryClient()
  const [since, setSince] = useState('')
  const ordering = useMutation({
    mutationFn: () => rereadConnection(id, since === '' ? undefined : since),
    onSuccess: async () => {
      await refreshConnections(queryClient)
      onDone()
    },
  })
  return (
    <Form onSubmit={() => ordering.mutate()}>
      <Text size="sm">{text.reread.explanation}</Text>
      <TextInput
        type="date"
        data-autofocus
        label={text.reread.since}
        description={text.reread.sinceHint}
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <FormError error={ordering.error} />
      <Button type="submit" ml="auto" loading={ordering.isPending}>
        {text.reread.submit}
      </Button>
    </Form>
  )
}
