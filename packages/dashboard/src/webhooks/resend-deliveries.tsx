import { Button, Group, Modal, Radio, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { RESENT, type Resent, refreshWebhooks, resendWebhookDeliveries } from '../api/webhooks.ts'
import { Form, FormError } from '../ui/form.tsx'
import { resolveRange } from '../ui/range.ts'
import { text } from './text.ts'

/** Resends the deliveries in a range of days: those that failed, that wait for a retry, or all. */
export function ResendDeliveries({ webhookId }: { webhookId: string }) {
  const queryClient = useQueryClient()
  const [isOpen, { open, close }] = useDisclosure()
  const [range, setRange] = useState(() => resolveRange({ range: '7d' }))
  const [only, setOnly] = useState<Resent>('failed')
  const sending = useMutation({
    mutationFn: () => resendWebhookDeliveries(webhookId, { ...range, only }),
    onSuccess: (resent) => {
      close()
      notifications.show({ message: text.resendRange.done(resent) })
    },
    // After an error, the parts before it have been sent.
    onSettled: () => refreshWebhooks(queryClient),
  })
  return (
    <>
      <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={open}>
        {text.resendRange.button}
      </Button>
      <Modal opened={isOpen} onClose={close} title={text.resendRange.title}>
        <Form onSubmit={() => sending.mutate()}>
          <Radio.Group label={text.resendRange.only} value={only} onChange={(value) => setOnly(value as Resent)}>
            <Stack gap="sm" mt="xs">
              {RESENT.map((each) => (
                <Radio
                  key={each}
                  value={each}
                  label={text.resendRange.choices[each].label}
                  description={text.resendRange.choices[each].description}
                />
              ))}
            </Stack>
          </Radio.Group>
          <Group grow>
            <TextInput
              type="date"
              label={text.resendRange.from}
              required
              value={range.from}
              onChange={(event) => setRange({ ...range, from: event.currentTarget.value })}
            />
            <TextInput
              type="date"
              label={text.resendRange.to}
              required
              value={range.to}
              onChange={(event) => setRange({ ...range, to: event.currentTarget.value })}
            />
          </Group>
          <FormError error={sending.error} />
          <Button type="submit" ml="auto" loading={sending.isPending}>
            {text.resendRange.submit}
          </Button>
        </Form>
      </Modal>
    </>
  )
}
