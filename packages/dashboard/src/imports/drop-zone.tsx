import { Button, FileButton, Text, ThemeIcon } from '@mantine/core'
import { IconFileImport } from '@tabler/icons-react'
import { type DragEvent, useState } from 'react'
import classes from './drop-zone.module.css'
import { text } from './text.ts'

/** Accepts files that are dropped, or chosen in the browser's dialog, which the keyboard reaches too. */
export function DropZone({ onFiles }: { onFiles: (files: File[]) => void }) {
  const [isOver, setIsOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    onFiles([...event.dataTransfer.files])
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same
    <div
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
        <IconFileImport size={26} stroke={1.6} />
      </ThemeIcon>
      <Text fw={600}>{isOver ? text.file.dropNow : text.file.drop}</Text>
      <Text size="sm" c="dimmed">
        {text.file.or}
      </Text>
      <FileButton accept=".csv,.tsv,.txt,text/csv" onChange={(file) => file && onFiles([file])}>
        {(props) => <Button {...props}>{text.file.choose}</Button>}
      </FileButton>
      <Text size="sm" c="dimmed" maw={480} mt="xs">
        {text.file.limits}
      </Text>
    </div>
  )
}
