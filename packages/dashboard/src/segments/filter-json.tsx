import { Button, Group, JsonInput, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBraces } from '@tabler/icons-react'
import { useState } from 'react'
import type { SegmentFilter } from '../api/types.ts'
import { parseFilter } from '../filters/filter-text.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { text } from './text.ts'

const words = text.json

/** The filter in the API's format, to copy or to paste. */
export function FilterJson({ filter, onPaste }: { filter: SegmentFilter; onPaste: (filter: SegmentFilter) => void }) {
  const [isOpen, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const show = () => {
    setTyped(JSON.stringify(filter, null, 2))
    setProblem(null)
    open()
  }
  const use = () => {
    const pasted = parseFilter(typed)
    if (pasted === undefined) return setProblem(words.invalid)
    onPaste(pasted)
    close()
  }
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconBraces size={14} aria-hidden />} onClick={show}>
        {words.open}
      </Button>
      <Modal opened={isOpen} onClose={close} title={words.title} size="lg">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {words.hint}
          </Text>
          <JsonInput
            aria-label={words.label}
            autosize
            minRows={10}
            maxRows={24}
            value={typed}
            onChange={setTyped}
            error={problem}
            spellCheck={false}
          />
          <Group justify="flex-end" gap="xs">
            <CopyButton value={typed} label={words.copy} withText />
            <Button onClick={use}>{words.use}</Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
