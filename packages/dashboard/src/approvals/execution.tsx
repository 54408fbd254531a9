import { Alert, Badge, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ACTION_STATES, ACTION_WORDS, personName } from '../agents/action-words.ts'
import { queryOf } from '../api/operation.ts'
import type { Action, ActionPlace } from '../api/types.ts'
import { formatMoment } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'
import type { WaitingAction } from './waiting.ts'

const MESSAGE_LENGTH_MAX = 600

/** An action as the paths of requests name it. */
export function pathOf({ run_id, contact_id, action_index }: ActionPlace) {
  return { run_id, contact_id, action_index: String(action_index) }
}

/** An approved action, read again until it is executed. */
export function useExecution(approved: Action): Action {
  const { data } = useQuery({
    ...queryOf('getAction', pathOf(approved)),
    initialData: { status: 'success' as const, action: approved },
    refetchInterval: ({ state }) => waitFor(state.data?.action ?? approved),
  })
  return data.action
}

/** When an action may have another status; false: never. */
function waitFor({ status, due_at: due }: Action): number | false {
  if (status !== 'approved') return false
  const leftMs = due === null ? 0 : Date.parse(due) - Date.now()
  return leftMs > 60_000 ? 30_000 : Math.max(1_000, leftMs)
}

/** The status of an approved action in one line. A failure is also announced, because the reader has moved on by then. */
export function ExecutionLine({ action, approved }: { action: WaitingAction; approved: Action }) {
  const now = useExecution(approved)
  const { status, error, type } = now
  const failure = text.outcome.failed(ACTION_WORDS[type].label, personName(action.contact).slice(0, 80))
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
  return (
    <Text span inherit c={reason === null ? (status === 'executed' ? 'teal' : undefined) : 'red'}>
      <Foreign max={200}>{reason === null ? progressWords(now) : text.outcome.failedWith(reason)}</Foreign>
    </Text>
  )
}

/** What became of an approved action. */
export function Execution({ action, approved }: { action: WaitingAction; approved: Action }) {
  const now = useExecution(approved)
  const { status, error, type } = now
  if (status === 'failed') {
    return (
      <Alert
        color="red"
        title={
          <Group gap={8} component="span">
            <Badge color="red">{ACTION_STATES.failed.label}</Badge>
            <Foreign max={200}>{text.outcome.failed(ACTION_WORDS[type].label, personName(action.contact))}</Foreign>
          </Group>
        }
      >
        <Foreign max={MESSAGE_LENGTH_MAX}>{error?.message ?? ''}</Foreign>
      </Alert>
    )
  }
  return (
    <Group gap={8}>
      <Badge color={ACTION_STATES[status].color}>{ACTION_STATES[status].label}</Badge>
      <Text size="sm" c={status === 'executed' ? 'teal' : undefined}>
        <Foreign max={MESSAGE_LENGTH_MAX}>{progressWords(now)}</Foreign>
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
  const leftMs = due === null ? 0 : Date.parse(due) - Date.now()
  if (leftMs > 60_000) return text.outcome.approvedUntil(formatMoment(due ?? ''))
  return leftMs > 0 ? text.outcome.held : text.outcome.approved
}
