import { Button, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { formatMoment } from '../ui/format.ts'
import { SecretShown } from './secret-shown.tsx'
import { text } from './text.ts'

const OVERLAP_HOURS = 24

/** Rotates the secret: how long both are valid, and when X-Service-Signature switches to the new one. */
export function RotateSecretDialog({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const [hours, setHours] = useState<string | number>(OVERLAP_HOURS)
  const [switchAt, setSwitchAt] = useState('')
  const rotation = useOperation('rotateWebhookSecret')
  const submit = () =>
    rotation.mutate({
      subscription_id: webhookId,
      overlap_seconds: Math.round(Number(hours) * 3_600),
      ...(switchAt === '' ? {} : { switch_at: new Date(switchAt).toISOString() }),
    })
  const made = rotation.data
  return (
    <FormDialog
      title={text.actions.rotate}
      submit={text.rotate.submit}
      size="lg"
      sending={rotation}
      onSubmit={submit}
      onClose={onClose}
      result={
        made
          ? {
              title: text.actions.rotate,
              content: (
                <Stack gap="md">
                  <SecretShown secret={made.signing_secret} />
                  <Text size="sm">
                    {text.rotate.done(formatMoment(made.previous_secret_until), formatMoment(made.switch_at))}
                  </Text>
                  <Button ml="auto" onClick={onClose}>
                    {text.rotate.saved}
                  </Button>
                </Stack>
              ),
            }
          : null
      }
    >
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
    </FormDialog>
  )
}
