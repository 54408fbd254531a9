import { Button, Group, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { text } from './text.ts'

/** The heading of an answer, and what can be done with it. */
export function ResultHeader({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Group justify="space-between" mb="sm" gap="xs">
      <Title order={2} size="h5">
        {heading}
      </Title>
      <Group gap={6}>{children}</Group>
    </Group>
  )
}

export function DownloadButton({ onClick }: { onClick: () => void }) {
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-xs"
      leftSection={<IconDownload size={14} aria-hidden />}
      aria-label={text.downloadLabel}
      onClick={onClick}
    >
      {text.download}
    </Button>
  )
}
