import { ActionIcon, Button, CopyButton as Copy, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

/** Puts a text on the clipboard. @param label what is copied ("Contact id"). */
export function CopyButton({ value, label, withText = false }: { value: string; label: string; withText?: boolean }) {
  return (
    <Copy value={value} timeout={1_500}>
      {({ copied, copy }) => {
        const icon = copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />
        const name = copied ? `${label}: copied` : `Copy ${label}`
        return withText ? (
          <Button variant="default" size="xs" leftSection={icon} onClick={copy} aria-label={name}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        ) : (
          <Tooltip label={name}>
            <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={name}>
              {icon}
            </ActionIcon>
          </Tooltip>
        )
      }}
    </Copy>
  )
}
