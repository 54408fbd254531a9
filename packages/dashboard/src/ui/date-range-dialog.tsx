import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Form } from './form.tsx'
import { text } from './text.ts'

interface Days {
  from: string
  to: string
}

interface DateRangeDialogProps extends Days {
  isOpen: boolean
  onClose: () => void
  onApply: (days: Days) => void
}

/** Asks for a first and a last day. */
export function DateRangeDialog({ isOpen, onClose, ...days }: DateRangeDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={text.dateRange.title} size="sm">
      <DaysForm {...days} />
    </Modal>
  )
}

function DaysForm(props: Days & { onApply: (days: Days) => void }) {
  const [from, setFrom] = useState(props.from)
  const [to, setTo] = useState(props.to)
  const apply = () => {
    if (from !== '' && to !== '') props.onApply(from <= to ? { from, to } : { from: to, to: from })
  }
  return (
    <Form gap="sm" onSubmit={apply}>
      <Group gap="sm" grow>
        <TextInput
          data-autofocus
          type="date"
          label={text.dateRange.from}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={text.dateRange.to}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
      <Button type="submit">{text.dateRange.apply}</Button>
    </Form>
  )
}
