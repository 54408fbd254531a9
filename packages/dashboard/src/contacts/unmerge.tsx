import { Alert, Button, Group, Text } from '@mantine/core'
import { IconArrowMerge } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useOperation } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

/** Says that a contact was just merged into this one, and undoes it. */
export function MergedNotice({ mergedId, onClose }: { mergedId: string; onClose: () => void }) {
  return (
    <Alert color="teal" mb="md" withCloseButton onClose={onClose} role="status" closeButtonLabel={text.merge.dismiss}>
      <Group gap="sm">
        <Text size="sm">{text.merge.done}</Text>
        <UnmergeButton mergedId={mergedId} />
      </Group>
    </Alert>
  )
}

/** Replaces the page of a contact that was merged into another one. */
export function MergedPage({ contactId, survivorId }: { contactId: string; survivorId: string }) {
  return (
    <>
      <PageHeader title={text.one} />
      <EmptyState
        icon={IconArrowMerge}
        title={text.merge.merged}
        action={
          <Group justify="center">
            <ButtonLink to="/contacts/$contactId" params={{ contactId: survivorId }}>
              {text.merge.open}
            </ButtonLink>
            <UnmergeButton mergedId={contactId} />
          </Group>
        }
      >
        {text.merge.mergedHint}
      </EmptyState>
    </>
  )
}

/** Undoes a merge, and opens the contact that is restored. */
export function UnmergeButton({ mergedId }: { mergedId: string }) {
  const router = useRouter()
  const mayWrite = useMay('contacts:write')
  const undoing = useOperation('unmergeContact', {
    onDone: () => router.navigate({ to: '/contacts/$contactId', params: { contactId: mergedId } }),
  })
  if (!mayWrite) return null
  return (
    <>
      <Button
        variant="default"
        size="xs"
        loading={undoing.isPending}
        onClick={() => undoing.mutate({ contact_id: mergedId })}
      >
        {text.merge.undo}
      </Button>
      {undoing.isError ? (
        <Text size="sm" c="red" role="alert">
          {messageOf(undoing.error)}
        </Text>
      ) : null}
    </>
  )
}
