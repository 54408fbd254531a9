import { Pill, Text } from '@mantine/core'
import { text } from './text.ts'

const WORDS_MAX = 120

interface FilterPillProps {
  /** Before the words, for a field with a value. */
  label?: string
  words: string
  onRemove: () => void
}

/** An active filter of a list, which can be removed. */
export function FilterPill({ label, words, onRemove }: FilterPillProps) {
  const shown = words.slice(0, WORDS_MAX)
  return (
    <Pill
      size="md"
      bg="var(--mantine-color-body)"
      bd="1px solid var(--cds-line)"
      maw="100%"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': text.filters.remove(label ?? shown), 'aria-hidden': false, tabIndex: 0 }}
    >
      {label === undefined ? null : (
        <Text span size="sm" c="dimmed">
          {label}{' '}
        </Text>
      )}
      <bdi>{shown}</bdi>
    </Pill>
  )
}
