import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/client.ts'
import { formatShare } from './axis.ts'
import { text } from './text.ts'

const words = text.sample
/** The service's limit. */
const SMALLEST = 0.01
/** How much smaller each further sample is. */
const STEP = 0.1

/** Whether the service offers a sample of a question that reads too much. */
export function offersSample(error: unknown): boolean {
  return error instanceof ApiError && error.details.some(({ path }) => path === 'sample')
}

interface SampleProps {
  /** The part of the people that was asked. */
  sample: number
  /** Asks another part; undefined: everybody. */
  onSample: (sample: number | undefined) => void
}

/** Replaces the answer to a question that reads too much. */
export function SampleOffer({ sample, onSample }: SampleProps) {
  const smaller = Math.max(SMALLEST, Number((sample * STEP).toPrecision(2)))
  return (
    <Alert color="orange" role="alert" icon={<IconAlertTriangle aria-hidden />} title={words.tooMuch}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{words.hint}</Text>
        <Button variant="default" size="xs" onClick={() => onSample(smaller)}>
          {words.use(formatShare(smaller))}
        </Button>
      </Stack>
    </Alert>
  )
}

/** Says above an answer that it is an estimate. */
export function SampleNote({ sample, onSample }: SampleProps) {
  return (
    <Alert color="orange" variant="light" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm">{words.estimated(formatShare(sample))}</Text>
        <Button variant="default" size="compact-sm" onClick={() => onSample(undefined)}>
          {words.everybody}
        </Button>
      </Group>
    </Alert>
  )
}

/** Says above the answer to a question, or beside one of its numbers, that it is an estimate, where the question cannot be changed. */
export function SampleMark({ answer }: { answer: object }) {
  if (!('sample' in answer) || typeof answer.sample !== 'number' || answer.sample >= 1) return null
  return (
    <Text size="xs" c="dimmed">
      {words.mark(formatShare(answer.sample))}
    </Text>
  )
}
