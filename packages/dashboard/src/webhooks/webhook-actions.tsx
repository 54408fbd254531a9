import { Button, Menu, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconTestPipe } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Webhook } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { messageOf } from '../ui/states.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { EditWebhookDialog } from './edit-webhook.tsx'
import { RotateSecretDialog } from './rotate-secret.tsx'
import { text } from './text.ts'

/** The actions for a subscription, for people who may use them. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { subscription_id, status } = webhook
  const navigate = useNavigate()
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const test = useOperation('testWebhook', {
    onDone: ({ delivery_id: deliveryId }) =>
      navigate({
        to: '/webhooks/$webhookId/deliveries/$deliveryId',
        params: { webhookId: subscription_id, deliveryId },
      }),
    onError,
  })
  const toggle = useOperation(status === 'active' ? 'pauseWebhook' : 'resumeWebhook', { onError })
  const remove = useOperation('deleteWebhook', { onDone: () => navigate({ to: '/webhooks' }) })
  const { button, afterFocus } = useMenuButton()
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete' | null>(null)
  const close = () => setDialog(null)
  if (!useMay('webhooks:write')) return null
  return (
    <>
      <Button
        leftSection={<IconTestPipe size={16} aria-hidden />}
        loading={test.isPending}
        onClick={() => test.mutate({ subscription_id })}
      >
        {text.actions.test}
      </Button>
      <Button
        variant="default"
        loading={toggle.isPending}
        leftSection={
          status === 'active' ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />
        }
        onClick={() => toggle.mutate({ subscription_id })}
      >
        {status === 'active' ? text.actions.pause : text.actions.resume}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button ref={button} variant="default" px="xs" aria-label={text.actions.more}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={afterFocus(() => setDialog('edit'))}>{text.actions.edit}</Menu.Item>
          <Menu.Item onClick={afterFocus(() => setDialog('rotate'))}>{text.actions.rotate}</Menu.Item>
          <Menu.Item color="red" onClick={afterFocus(() => setDialog('delete'))}>
            {text.actions.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'edit' ? <EditWebhookDialog webhook={webhook} onClose={close} /> : null}
      {dialog === 'rotate' ? <RotateSecretDialog webhookId={subscription_id} onClose={close} /> : null}
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title={text.actions.removeTitle}
        explanation={<Text size="sm">{text.actions.removeExplanation}</Text>}
        confirmLabel={text.actions.removeConfirm}
        onConfirm={() => remove.mutateAsync({ subscription_id })}
      />
    </>
  )
}
