import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'

/** Downloads what a list shows, all pages of it. */
export function ExportButton({ href, label }: { href: string; label: string }) {
  return (
    <Button
      component="a"
      variant="default"
      href={href}
      download
      leftSection={<IconDownload size={16} aria-hidden />}
      aria-label={`Export ${label} as CSV`}
    >
      Export
    </Button>
  )
}
