import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

/** Puts a text on the clipboard. @param label what is copied ("Contact id"). */
export function CopyButton({ value, label, withText = false }: { value: string; label: string; withText?: boolean }) {
  const { copied, copy, error } = useClipboard({ timeout: 1_500 })
  const icon = copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />
  // Browsers have no clipboard for pages that came over plain HTTP, and people may forbid it.
  const refused =
    error === null ? `Copy ${label}` : `${label}: the browser does not let us copy, select the text instead`
  const name = copied ? `${label}: copied` : refused
  return withText ? (
    <Tooltip label={name} disabled={error === null}>
      <Button variant="default" size="xs" leftSection={icon} onClick={() => copy(value)} aria-label={name}>
        {copyWord(copied, error)}
      </Button>
    </Tooltip>
  ) : (
    <Tooltip label={name}>
      <ActionIcon variant="subtle" color="gray" size="sm" onClick={() => copy(value)} aria-label={name}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}

function copyWord(copied: boolean, error: Error | null): string {
  if (copied) return 'Copied'
  return error === null ? 'Copy' : 'Not copied'
}
