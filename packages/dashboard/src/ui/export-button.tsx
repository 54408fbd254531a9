import { IconDownload } from '@tabler/icons-react'
import { ToolbarButton } from './toolbar-button.tsx'

/** Downloads all pages of a list. */
export function ExportButton({ href, label }: { href: string; label: string }) {
  return (
    <ToolbarButton
      component="a"
      href={href}
      download
      icon={<IconDownload size={16} aria-hidden />}
      aria-label={`Export ${label} as CSV`}
    >
      Export
    </ToolbarButton>
  )
}
