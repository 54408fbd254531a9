import { Alert, Badge, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ACTION_STATES, ACTION_WORDS } from '../agents/action-words.ts'
import { type Action, executionQuery } from '../api/approvals.ts'
import { formatMoment } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

const MESSAGE_LENGTH_MAX = 600

interface ExecutionProps {
  /** As it was approved. */
  approved: Action
  /** Of its contact. */
  name: string
}

/** What became of an approved action. A failure is also announced, because the reader has moved on by then. */
export function Execution({ approved, name }: ExecutionProps) {
  const { data } = useQuery(executionQuery(approved))
  const action = data ?? approved
  const { status, error, type } = action
  const failure = text.outcome.failed(ACTION_WORDS[type].label, name.slice(0, 80))
  const reason = status === 'failed' ? (error?.message ?? '') : null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it fails
  useEffect(() => {
    if (reason === null) return
    notifications.show({
      color: 'red',
      title: failure,
      message: reason.slice(0, MESSAGE_LENGTH_MAX),
      autoClose: 15_000,
    })
  }, [reason])
  if (reason !== null) {
    return (
      <Alert
        color="red"
        title={
          <Group gap={8} component="span">
            <Badge color="red">{ACTION_STATES.failed.label}</Badge>
            <Foreign max={200}>{failure}</Foreign>
          </Group>
        }
      >
        <Foreign max={MESSAGE_LENGTH_MAX}>{reason}</Foreign>
      </Alert>
    )
  }
  return (
    <Group gap={8} role="status">
      <Badge color={ACTION_STATES[status].color}>{ACTION_STATES[status].label}</Badge>
      <Text size="sm" c={status === 'executed' ? 'teal' : undefined}>
        <Foreign max={MESSAGE_LENGTH_MAX}>{progressWords(action)}</Foreign>
      </Text>
    </Group>
  )
}

function progressWords({ status, type, due_at: due, result, error }: Action): string {
  if (status === 'executed') {
    const done = text.outcome.executed[type]
    const recipient = result?.recipient
    return typeof recipient === 'string' ? text.outcome.executedTo(done, recipient) : text.outcome.executedAlone(done)
  }
  if (error !== null) return text.outcome.retried(error.message)
  const isLater = due !== null && Date.parse(due) > Date.now() + 60_000
  return isLater ? text.outcome.approvedUntil(formatMoment(due)) : text.outcome.approved
}
