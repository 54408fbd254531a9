import { Alert, Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import type { Entity } from '../api/types.ts'
import { Form, FormError } from '../ui/form.tsx'
import { type BulkChange, type BulkProgress, type BulkTarget, changeMany } from './change-many.ts'
import { text } from './text.ts'

/** What every bulk action gets: the records, and what happens afterwards. */
export interface BulkActionProps {
  entity: Entity
  target: BulkTarget
  count: number
  /** Called after something was changed. */
  onChanged: () => void
  onClose: () => void
}

interface BulkDialogProps extends BulkActionProps {
  title: string
  confirmLabel: string
  isDanger?: boolean
  /** undefined while something is missing. */
  change: BulkChange | undefined
  /** What will happen, and the fields. */
  children: ReactNode
}

const FAILURES_SHOWN = 10

/** Asks, then changes records step by step, and says how it went. */
export function BulkDialog(props: BulkDialogProps) {
  const { entity, target, count, onChanged, onClose, title, confirmLabel, isDanger = false, change, children } = props
  const [progress, setProgress] = useState<BulkProgress>({ done: 0, failed: [] })
  const isStopped = useRef(false)
  const running = useMutation({
    mutationFn: (chosen: BulkChange) =>
      changeMany(entity, target, chosen, (next) => {
        setProgress(next)
        return !isStopped.current
      }),
  })
  const close = () => {
    isStopped.current = true
    onClose()
    if (!running.isIdle) onChanged()
  }
  const submit = () => {
    if (change && !running.isPending) running.mutate(change)
  }
  const seen = progress.done + progress.failed.length
  return (
    <Modal opened onClose={close} title={title} closeOnClickOutside={running.isIdle}>
      {running.isIdle ? (
        <Form onSubmit={submit}>
          {children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {text.bulk.cancel}
            </Button>
            <Button type="submit" disabled={!change} {...(isDanger ? { color: 'red' } : {})}>
              {confirmLabel}
            </Button>
          </Group>
        </Form>
      ) : (
        <Stack>
          {running.isPending ? (
            <>
              <Progress value={(100 * seen) / Math.max(count, 1)} aria-label={title} />
              <Text size="sm" role="status">
                {text.bulk.progress(seen, count)}
              </Text>
            </>
          ) : (
            <Text size="sm" role="status">
              {text.bulk.result(entity, progress.done, isDanger)} {isStopped.current ? text.bulk.stopped : null}
            </Text>
          )}
          <FormError error={running.error} />
          <Failures entity={entity} failed={progress.failed} />
          <Group justify="flex-end">
            {running.isPending ? (
              <Button
                variant="default"
                onClick={() => {
                  isStopped.current = true
                }}
              >
                {text.bulk.stop}
              </Button>
            ) : (
              <Button onClick={close}>{text.bulk.close}</Button>
            )}
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

/** The records that could not be changed, and why. */
function Failures({ entity, failed }: Pick<BulkActionProps, 'entity'> & Pick<BulkProgress, 'failed'>) {
  if (failed.length === 0) return null
  return (
    <Alert color="orange" title={text.bulk.failed(entity, failed.length)}>
      <List size="sm">
        {failed.slice(0, FAILURES_SHOWN).map(({ id, error }) => (
          <List.Item key={id}>{text.bulk.failure(id.slice(0, 13), error.message)}</List.Item>
        ))}
      </List>
      {failed.length > FAILURES_SHOWN ? (
        <Text size="sm">{text.bulk.moreFailed(failed.length - FAILURES_SHOWN)}</Text>
      ) : null}
    </Alert>
  )
}
