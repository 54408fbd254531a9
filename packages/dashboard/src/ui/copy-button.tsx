import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

/** Over plain HTTP, browsers have no clipboard; people can also deny access. */
const REFUSED = 'Copying failed: select it instead'

/** Copies text to the clipboard. @param label what is copied ("Contact id"). */
export function CopyButton({ value, label, withText = false }: { value: string; label: string; withText?: boolean }) {
  const { copied, copy, error } = useClipboard({ timeout: 1_500 })
  const icon = copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />
  const idle = error === null ? { name: `Copy ${label}`, text: 'Copy' } : { name: REFUSED, text: REFUSED }
  const { name, text } = copied ? { name: `${label}: copied`, text: 'Copied' } : idle
  return withText ? (
    <Button variant="default" size="xs" leftSection={icon} onClick={() => copy(value)} aria-label={name}>
      {text}
    </Button>
  ) : (
    <Tooltip label={name}>
      <ActionIcon variant="subtle" color="gray" size="sm" onClick={() => copy(value)} aria-label={name}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}
