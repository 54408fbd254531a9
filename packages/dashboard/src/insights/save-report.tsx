import { Button, Text } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { CreateReportInput } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { text } from './text.ts'

const words = text.reports

/** Saves a question as a report, for those who may. */
export function SaveReport(asked: Pick<CreateReportInput, 'kind' | 'question'>) {
  const [isOpen, setOpen] = useState(false)
  if (!useMay('segments:write')) return null
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconBookmark size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {words.save}
      </Button>
      {isOpen ? <SaveDialog {...asked} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function SaveDialog({ onClose, ...asked }: Pick<CreateReportInput, 'kind' | 'question'> & { onClose: () => void }) {
  const router = useRouter()
  const [name, setName] = useState('')
  const saving = useOperation('createReport', { onDone: () => router.navigate({ to: '/insights/reports' }) })
  return (
    <FormDialog
      title={words.saveTitle}
      submit={words.submit}
      sending={saving}
      isDisabled={name.trim() === ''}
      onSubmit={() => saving.mutate({ ...asked, name: name.trim() })}
      onClose={onClose}
    >
      <Text size="sm">{words.saveHint}</Text>
      <NameField value={name} onChange={setName} />
    </FormDialog>
  )
}
