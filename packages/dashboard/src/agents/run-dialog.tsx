import { Button, Group, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { refreshAgents, triggerAgent } from '../api/agents.ts'
import { Form, FormError } from '../ui/form.tsx'
import { text } from './text.ts'

interface RunDialogProps {
  title: string
  /** undefined until one is chosen. */
  agentId: string | undefined
  /** null: those of its audience. */
  contactIds: string[] | null
  onClose: () => void
  /** Which agent, or which contacts. */
  children: ReactNode
}

/** Runs an agent now, and opens the run. */
export function RunDialog({ title, agentId, contactIds, onClose, children }: RunDialogProps) {
  const router = useRouter()
  const queryClient = useQueryClient()
  const running = useMutation({
    mutationFn: (id: string) => triggerAgent(id, contactIds),
    onSuccess: async ({ job_id: runId }) => {
      onClose()
      await router.navigate({ to: '/agents/runs/$runId', params: { runId } })
      await refreshAgents(queryClient)
    },
  })
  const submit = () => {
    if (agentId !== undefined) running.mutate(agentId)
  }
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      <Form onSubmit={submit}>
        {children}
        <FormError error={running.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {text.runNow.cancel}
          </Button>
          <Button
            type="submit"
            loading={running.isPending}
            disabled={agentId === undefined || contactIds?.length === 0}
          >
            {text.runNow.start}
          </Button>
        </Group>
      </Form>
    </Modal>
  )
}
