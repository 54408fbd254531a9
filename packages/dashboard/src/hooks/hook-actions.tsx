import { Button, Menu, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconRoute } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Hook } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { messageOf } from '../ui/states.tsx'
import { isolated } from '../ui/text.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { RenameHook, RotateHook, SecretDialog } from './hook-dialogs.tsx'
import { needsSecret } from './hooks-page.tsx'
import { text } from './text.ts'

/** The actions for a hook, for people who may use them. */
export function HookActions({ hook }: { hook: Hook }) {
  const { hook_id: hookId, enabled, name } = hook
  const navigate = useNavigate()
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'rename' | 'secret' | 'rotate' | 'delete' | null>(null)
  const mayWrite = useMay('settings:write')
  const toggle = useOperation('updateHook', {
    onError: (error) => notifications.show({ color: 'red', message: messageOf(error) }),
  })
  const removing = useOperation('deleteHook', { onDone: () => navigate({ to: '/hooks' }) })
  const close = () => setDialog(null)
  const mapping = (
    <ButtonLink
      variant={mayWrite ? 'filled' : 'default'}
      leftSection={<IconRoute size={16} aria-hidden />}
      to="/hooks/$hookId/mapping"
      params={{ hookId }}
    >
      {mayWrite ? text.actions.editMapping : text.actions.viewMapping}
    </ButtonLink>
  )
  if (!mayWrite) return mapping
  const icon = enabled ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />
  return (
    <>
      {mapping}
      {needsSecret(hook) ? (
        <Button variant="default" onClick={() => setDialog('secret')}>
          {text.one.addSecret}
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={icon}
          loading={toggle.isPending}
          onClick={() => toggle.mutate({ hook_id: hookId, enabled: !enabled })}
        >
          {enabled ? text.actions.turnOff : text.actions.turnOn}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button ref={button} variant="default" px="xs" aria-label={text.actions.more}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={afterFocus(() => setDialog('rename'))}>{text.actions.rename}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('secret'))}>{text.actions.secret}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('rotate'))}>{text.actions.rotate}</Menu.Item>
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {text.actions.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' ? <RenameHook hook={hook} onClose={close} /> : null}
      {dialog === 'secret' ? <SecretDialog hook={hook} onClose={close} /> : null}
      {dialog === 'rotate' ? <RotateHook hook={hook} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.remove.title(isolated(name.slice(0, 80)))}
        explanation={<Text size="sm">{text.remove.explanation}</Text>}
        confirmLabel={text.remove.confirm}
        onConfirm={() => removing.mutateAsync({ hook_id: hookId })}
      />
    </>
  )
}
