import { type ComboboxItem, Group, Stack, Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { messageOf } from './states.tsx'
import { text } from './text.ts'

/** A picker's list that could not be read. What is not in the list can still be typed. */
export interface PickerFailure {
  /** What could not be read, as a sentence. */
  words: string
  reason: string
  retry: () => void
}

interface Read {
  isLoadingError: boolean
  error: unknown
  refetch: () => unknown
}

/** The failure of what a picker reads; undefined if all of it could be read, or is being read. */
export function failureOf(words: string, reads: readonly Read[]): PickerFailure | undefined {
  const failed = reads.filter(({ isLoadingError }) => isLoadingError)
  if (failed.length === 0) return undefined
  const retry = () => {
    for (const { refetch } of failed) void refetch()
  }
  return { words, reason: messageOf(failed[0]?.error), retry }
}

/** No name has this character. */
const RETRY = '\u0000retry'

/** The last option of a picker whose list could not be read: the keyboard reaches it, and screen readers read it. */
export function retryOption(failure: PickerFailure | undefined): ComboboxItem[] {
  return failure ? [{ value: RETRY, label: failure.words }] : []
}

export function isRetry(value: string | null): boolean {
  return value === RETRY
}

/** What that option shows. */
export function RetryOption({ words, reason }: Pick<PickerFailure, 'words' | 'reason'>) {
  return (
    <Stack gap={2} flex={1} miw={0}>
      <Text span size="sm">
        {words}
      </Text>
      <Text span size="xs" c="dimmed">
        {reason}
      </Text>
      <Group gap={4} fw={550}>
        <IconRefresh size={14} aria-hidden />
        <Text span size="sm" inherit>
          {text.states.retry}
        </Text>
      </Group>
    </Stack>
  )
}
