import { Button, Menu, Modal, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconTestPipe } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  deleteWebhook,
  pauseWebhook,
  refreshWebhooks,
  resumeWebhook,
  testWebhook,
  updateWebhook,
  type Webhook,
} from '../api/webhooks.ts'
import { useMay } from '../session/may.ts'
import { FormError } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { EditWebhook } from './edit-webhook.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { text } from './text.ts'

/** The actions for a subscription, for people who may use them. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { subscription_id: id, status } = webhook
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const refresh = () => refreshWebhooks(queryClient)
  const onError = (error: Error) => notifications.show({ color: 'red', message: messageOf(error) })
  const test = useMutation({
    mutationFn: () => testWebhook(id),
    onSuccess: async ({ delivery_id: deliveryId }) => {
      await refresh()
      await navigate({ to: '/webhooks/$webhookId/deliveries/$deliveryId', params: { webhookId: id, deliveryId } })
    },
    onError,
  })
  const toggle = useMutation({
    mutationFn: () => (status === 'active' ? pauseWebhook(id) : resumeWebhook(id)),
    onSuccess: refresh,
    onError,
  })
  const { button, afterFocus } = useMenuButton()
  const [dialog, { open, close }] = useDisclosure()
  const [rotation, rotating] = useDisclosure()
  const [removal, removing] = useDisclosure()
  if (!useMay('webhooks:write')) return null
  return (
    <>
      <Button
        leftSection={<IconTestPipe size={16} aria-hidden />}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        {text.actions.test}
      </Button>
      <Button
        variant="default"
        loading={toggle.isPending}
        leftSection={
          status === 'active' ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />
        }
        onClick={() => toggle.mutate()}
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
          <Menu.Item onClick={afterFocus(open)}>{text.actions.edit}</Menu.Item>
          <Menu.Item onClick={afterFocus(rotating.open)}>{text.actions.rotate}</Menu.Item>
          <Menu.Item color="red" onClick={afterFocus(removing.open)}>
            {text.actions.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog} onClose={close} title={text.edit.title} size="lg">
        <EditWebhook
          webhook={webhook}
          onSave={async (changes) => {
            await updateWebhook(id, changes)
            await refresh()
            close()
          }}
        />
      </Modal>
      <Modal opened={rotation} onClose={rotating.close} title={text.actions.rotate} size="lg">
        <RotateSecret webhookId={id} onDone={rotating.close} />
      </Modal>
      <Modal opened={removal} onClose={removing.close} title={text.actions.removeTitle}>
        <Removal
          onConfirm={async () => {
            await deleteWebhook(id)
            await navigate({ to: '/webhooks' })
            await refresh()
          }}
        />
      </Modal>
    </>
  )
}

function Removal({ onConfirm }: { onConfirm: () => Promise<void> }) {
  const removal = useMutation({ mutationFn: onConfirm })
  return (
    <Stack gap="md">
      <div>{text.actions.removeExplanation}</div>
      <FormError error={removal.error} />
      <Button color="red" ml="auto" loading={removal.isPending} onClick={() => removal.mutate()}>
        {text.actions.removeConfirm}
      </Button>
    </Stack>
  )
}
