import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { upTo } from '../ui/up-to.ts'

interface RejectDialogProps {
  /** How many are rejected; 0 while it is closed. */
  count: number
  onReject: (reason: string) => void
  /** Whoever opened it says where the focus goes. */
  onClose: () => void
}

/** Asks why: whoever reads the audit log, and whoever improves the playbook, wants to know. */
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
          description="It is kept in the audit log. You may leave it empty."
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
