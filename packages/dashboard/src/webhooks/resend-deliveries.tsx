import { Button, Group, Radio, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { refreshAfter } from '../api/operation.ts'
import type { ResendWebhookDeliveriesInput } from '../api/types.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { resolveRange } from '../ui/range.ts'
import { text } from './text.ts'

/** Which deliveries of a range are sent again. */
const RESENT = ['failed', 'waiting', 'all'] as const
type Resent = (typeof RESENT)[number]

/** Resends the deliveries in a range of days: those that failed, that wait for a retry, or all. */
export function ResendDeliveries({ webhookId }: { webhookId: string }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={open}>
        {text.resendRange.button}
      </Button>
      {isOpen ? <ResendDialog webhookId={webhookId} onClose={close} /> : null}
    </>
  )
}

function ResendDialog({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [range, setRange] = useState(() => resolveRange({ range: '7d' }))
  const [only, setOnly] = useState<Resent>('failed')
  const sending = useMutation({
    mutationFn: () => resendAll({ subscription_id: webhookId, ...range, only }),
    onSuccess: (resent) => {
      onClose()
      notifications.show({ message: text.resendRange.done(resent) })
    },
    // After an error, the parts before it have been sent.
    onSettled: () => refreshAfter(queryClient, 'resendWebhookDeliveries'),
  })
  return (
    <FormDialog
      title={text.resendRange.title}
      submit={text.resendRange.submit}
      sending={sending}
      onSubmit={() => sending.mutate()}
      onClose={onClose}
    >
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
    </FormDialog>
  )
}

/** Sends deliveries in a range of days again, part by part. @returns how many. */
async function resendAll(input: ResendWebhookDeliveriesInput): Promise<number> {
  let sum = 0
  let position: { after?: string } | null = {}
  while (position !== null) {
    const part: { resent: number; next: string | null } = await call('resendWebhookDeliveries', {
      ...input,
      ...position,
    })
    sum += part.resent
    position = part.next === null ? null : { after: part.next }
  }
  return sum
}
