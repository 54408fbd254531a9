import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type BulkActionProps, BulkDialog } from './bulk-dialog.tsx'
import { text } from './text.ts'

/** Deletes many records. Those that the person cannot all see need a word to be typed. */
export function BulkDelete(props: BulkActionProps) {
  const { entity, target, count } = props
  const [typed, setTyped] = useState('')
  const needsWord = 'matching' in target
  const isSure = !needsWord || typed.trim().toLowerCase() === text.bulk.confirmWord
  return (
    <BulkDialog
      {...props}
      title={text.bulk.deleteTitle(entity, count)}
      confirmLabel={text.bulk.deleteButton(entity, count)}
      isDanger
      change={isSure ? { delete: true } : undefined}
    >
      <Text size="sm">{text.bulk.deleteExplanation[entity]}</Text>
      {needsWord ? (
        <TextInput
          label={text.bulk.confirmLabel}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
    </BulkDialog>
  )
}
