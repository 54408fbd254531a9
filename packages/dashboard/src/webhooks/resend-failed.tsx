import { Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshWebhooks, resendWebhookDeliveries } from '../api/webhooks.ts'
import { Form, FormError } from '../ui/form.tsx'
import { resolveRange } from '../ui/range.ts'
import { text } from './text.ts'

/** Resends all failed deliveries in a range of days. */
export function ResendFailed({ webhookId }: { webhookId: string }) {
  const queryClient = useQueryClient()
  const [isOpen, { open, close }] = useDisclosure()
  const [range, setRange] = useState(() => resolveRange({ range: '7d' }))
  const sending = useMutation({
    mutationFn: () => resendWebhookDeliveries(webhookId, range),
    onSuccess: async ({ resent }) => {
      close()
      notifications.show({ message: text.resendFailed.done(resent) })
      await refreshWebhooks(queryClient)
    },
  })
  return (
    <>
      <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={open}>
        {text.resendFailed.button}
      </Button>
      <Modal opened={isOpen} onClose={close} title={text.resendFailed.title}>
        <Form onSubmit={() => sending.mutate()}>
          <Text size="sm">{text.resendFailed.explanation}</Text>
          <Group grow>
            <TextInput
              type="date"
              label={text.resendFailed.from}
              required
              value={range.from}
              onChange={(event) => setRange({ ...range, from: event.currentTarget.value })}
            />
            <TextInput
              type="date"
              label={text.resendFailed.to}
              required
              value={range.to}
              onChange={(event) => setRange({ ...range, to: event.currentTarget.value })}
            />
          </Group>
          <FormError error={sending.error} />
          <Button type="submit" ml="auto" loading={sending.isPending}>
            {text.resendFailed.submit}
          </Button>
        </Form>
      </Modal>
    </>
  )
}
