import { Button, Group, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDownload, IconPhoto } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { formatDay } from '../ui/format.ts'
import { messageOf } from '../ui/states.tsx'
import type { Picture } from './picture.tsx'
import type { Summary } from './summary.ts'
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

interface PictureButtonProps extends Pick<Picture, 'fileName' | 'draw'> {
  summary: Summary
}

/** Saves the chart as a picture, with what it is about. */
export function PictureButton({ summary: { what, when }, ...picture }: PictureButtonProps) {
  const save = async () => {
    const { savePicture } = await import('./picture.tsx')
    const subtitle = text.asOf(when, formatDay(new Date().toISOString()))
    await savePicture({ ...picture, title: what, subtitle })
  }
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-xs"
      leftSection={<IconPhoto size={14} aria-hidden />}
      aria-label={text.pictureLabel}
      onClick={() => save().catch((error: unknown) => notifications.show({ color: 'red', message: messageOf(error) }))}
    >
      {text.picture}
    </Button>
  )
}
