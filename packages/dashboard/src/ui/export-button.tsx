import { IconDownload } from '@tabler/icons-react'
import { text } from './text.ts'
import { ToolbarButton } from './toolbar-button.tsx'

/** Downloads all pages of a list. */
export function ExportButton({ href, label }: { href: string; label: string }) {
  return (
    <ToolbarButton
      component="a"
      href={href}
      download
      icon={<IconDownload size={16} aria-hidden />}
      aria-label={text.export.label(label)}
    >
      {text.export.button}
    </ToolbarButton>
  )
}
