import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { text } from './text.ts'

/** Copies text to the clipboard. @param label what is copied ("Contact id"). */
export function CopyButton({ value, label, withText = false }: { value: string; label: string; withText?: boolean }) {
  const { copied, copy, error } = useClipboard({ timeout: 1_500 })
  const icon = copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />
  const idle = error === null ? [text.copy.label(label), text.copy.idle] : [text.copy.refused, text.copy.refused]
  const [name, shown] = copied ? [text.copy.copiedLabel(label), text.copy.copied] : idle
  return withText ? (
    <Button variant="default" size="xs" leftSection={icon} onClick={() => copy(value)} aria-label={name}>
      {shown}
    </Button>
  ) : (
    <Tooltip label={name}>
      <ActionIcon variant="subtle" color="gray" size="sm" onClick={() => copy(value)} aria-label={name}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}
