import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/client.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { showImport } from './import-queries.ts'
import { text } from './text.ts'

/** Cancels an import that has not started. */
export function Discard({ importId }: { importId: string }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const discard = async () => {
    await showImport(queryClient, await call('cancelImport', { import_id: importId }))
    await navigate({ to: '/imports' })
  }
  return (
    <ConfirmButton
      variant="subtle"
      color="gray"
      title={text.preview.discardTitle}
      explanation={text.preview.discardExplanation}
      confirmLabel={text.preview.discardConfirm}
      onConfirm={discard}
    >
      {text.preview.discard}
    </ConfirmButton>
  )
}
