import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { upTo } from '../ui/up-to.ts'

interface RejectDialogProps {
  /** The number of actions to reject; 0 while the dialog is closed. */
  count: number
  onReject: (reason: string) => void
  /** The opener sets the focus. */
  onClose: () => void
}

/** Asks for a reason, for the audit log and for improving the playbook. */
export function RejectDialog({ count, onReject, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const close = () => {
    setReason('')
    onClose()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setReason('')
    onReject(reason.trim())
  }
  return (
    <Modal
      opened={count > 0}
      onClose={close}
      returnFocus={false}
      title={count > 1 ? `Reject ${count} actions?` : 'Reject this action?'}
    >
      <Stack component="form" onSubmit={submit}>
        <Textarea
          label="Reason"
          description="Optional. Stored in the audit log."
          autosize
          minRows={2}
          maxRows={8}
          {...upTo(1_000)}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" color="red">
            {count > 1 ? `Reject ${count}` : 'Reject'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
