import { Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Connection } from '../api/types.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { text } from './text.ts'

const words = text.activities

interface ActivitiesDialogProps {
  connection: Connection
  label: string
  onClose: () => void
}

/** Chooses whether notes and mails of agents are stored in the system. */
export function ActivitiesDialog({ connection: { connection_id, activities }, label, onClose }: ActivitiesDialogProps) {
  const [enabled, setEnabled] = useState(activities !== null)
  const saving = useOperation('setConnectionActivities', { onDone: onClose })
  return (
    <FormDialog
      title={words.title(label)}
      submit={text.edit.submit}
      sending={saving}
      onSubmit={() => saving.mutate({ connection_id, enabled })}
      onClose={onClose}
    >
      <Text size="sm">{words.explanation(label)}</Text>
      <Switch
        data-autofocus
        label={words.enabled(label)}
        description={words.enabledHint(label)}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}
