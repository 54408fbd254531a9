import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useOperation } from '../api/operation.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
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
  const running = useOperation('triggerAgent', {
    onDone: async ({ job_id: runId }) => {
      onClose()
      await router.navigate({ to: '/agents/runs/$runId', params: { runId } })
    },
  })
  const submit = () => {
    if (agentId === undefined) return
    running.mutate({ agent_id: agentId, ...(contactIds === null ? {} : { contact_ids: contactIds }) })
  }
  return (
    <FormDialog
      title={title}
      submit={text.runNow.start}
      size="lg"
      sending={running}
      isDisabled={agentId === undefined || contactIds?.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {children}
    </FormDialog>
  )
}
