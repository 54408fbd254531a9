import { Button, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { refreshWebhooks, rotateWebhookSecret } from '../api/webhooks.ts'
import { Form, FormError } from '../ui/form.tsx'
import { formatMoment } from '../ui/format.ts'
import { SecretShown } from './secret-shown.tsx'
import { text } from './text.ts'

const OVERLAP_HOURS = 24

/** Rotates the secret: how long both are valid, and when X-Service-Signature switches to the new one. */
export function RotateSecret({ webhookId, onDone }: { webhookId: string; onDone: () => void }) {
  const queryClient = useQueryClient()
  const [hours, setHours] = useState<string | number>(OVERLAP_HOURS)
  const [switchAt, setSwitchAt] = useState('')
  const rotation = useMutation({
    mutationFn: () =>
      rotateWebhookSecret(webhookId, {
        overlap_seconds: Math.round(Number(hours) * 3_600),
        ...(switchAt === '' ? {} : { switch_at: new Date(switchAt).toISOString() }),
      }),
    onSuccess: () => refreshWebhooks(queryClient),
  })
  if (rotation.data) {
    const { signing_secret: secret, previous_secret_until: until, switch_at: at } = rotation.data
    return (
      <Stack gap="md">
        <SecretShown secret={secret} />
        <Text size="sm">{text.rotate.done(formatMoment(until), formatMoment(at))}</Text>
        <Button ml="auto" onClick={onDone}>
          {text.rotate.saved}
        </Button>
      </Stack>
    )
  }
  return (
    <Form onSubmit={() => rotation.mutate()}>
      <NumberInput
        label={text.rotate.overlap}
        suffix={text.rotate.hours}
        min={0}
        max={720}
        required
        value={hours}
        onChange={setHours}
      />
      <TextInput
        type="datetime-local"
        label={text.rotate.switchAt}
        description={text.rotate.switchAtDescription}
        value={switchAt}
        onChange={(event) => setSwitchAt(event.currentTarget.value)}
      />
      <FormError error={rotation.error} />
      <Button type="submit" ml="auto" loading={rotation.isPending}>
        {text.rotate.submit}
      </Button>
    </Form>
  )
}
