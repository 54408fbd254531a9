import { Button, Group, Kbd, Modal, Stack, Text, Textarea } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { Form } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

interface RejectDialogProps {
  /** The number of actions to reject; 0 while the dialog is closed. */
  count: number
  onReject: (reason: string) => void
  /** The opener sets the focus. */
  onClose: () => void
}

/** Asks for a reason, for the audit log and for improving the playbook. The usual ones take one click, or their number. */
export function RejectDialog({ count, onReject, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const close = () => {
    setReason('')
    onClose()
  }
  const reject = (because: string) => {
    setReason('')
    onReject(because.trim())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return
    const usual = text.rejection.reasons[Number(event.key) - 1]
    if (usual === undefined) return
    event.preventDefault()
    reject(usual)
  }
  return (
    <Modal
      opened={count > 0}
      onClose={close}
      returnFocus={false}
      title={text.rejection.title(count)}
      onKeyDown={onKeyDown}
    >
      <Form onSubmit={() => reject(reason)}>
        <Stack gap={6} role="group" aria-label={text.rejection.because}>
          <Text size="sm" fw={500} aria-hidden>
            {text.rejection.because}
          </Text>
          {text.rejection.reasons.map((usual, index) => (
            <Button
              key={usual}
              variant="default"
              justify="flex-start"
              leftSection={<Kbd aria-hidden>{index + 1}</Kbd>}
              onClick={() => reject(usual)}
              data-autofocus={index === 0 || undefined}
            >
              {usual}
            </Button>
          ))}
        </Stack>
        <Textarea
          label={text.rejection.reason}
          description={text.rejection.reasonHint}
          autosize
          minRows={2}
          maxRows={8}
          {...upTo(1_000)}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {text.rejection.cancel}
          </Button>
          <Button type="submit" color="red">
            {text.rejection.confirm(count)}
          </Button>
        </Group>
      </Form>
    </Modal>
  )
}
