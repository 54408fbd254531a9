import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { askOfImport, showImport } from '../api/imports.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { text } from './text.ts'

/** Cancels an import that has not started. */
export function Discard({ importId }: { importId: string }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const discard = async () => {
    await showImport(queryClient, await askOfImport(importId, 'cancelImport'))
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
