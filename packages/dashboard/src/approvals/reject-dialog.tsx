import { Button, Group, Modal, Textarea } from '@mantine/core'
import { useState } from 'react'
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

/** Asks for a reason, for the audit log and for improving the playbook. */
export function RejectDialog({ count, onReject, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const close = () => {
    setReason('')
    onClose()
  }
  const submit = () => {
    setReason('')
    onReject(reason.trim())
  }
  return (
    <Modal opened={count > 0} onClose={close} returnFocus={false} title={text.rejection.title(count)}>
      <Form onSubmit={submit}>
        <Textarea
          label={text.rejection.reason}
          description={text.rejection.reasonHint}
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
