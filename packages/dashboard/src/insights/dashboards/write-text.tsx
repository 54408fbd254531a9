import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { upTo } from '../../ui/up-to.ts'
import { text } from './text.ts'

const words = text.edit.writing
/** The service's limit. */
const TEXT_LENGTH_MAX = 2_000
/** It is sent with the dashboard. */
const NOT_SENT = { isPending: false, error: null }

interface WriteTextProps {
  written: string
  onDone: (written: string) => void
  onClose: () => void
}

/** Writes the text of a tile. */
export function WriteText({ written, onDone, onClose }: WriteTextProps) {
  const [typed, setTyped] = useState(written)
  return (
    <FormDialog
      title={words.title}
      submit={words.submit}
      sending={NOT_SENT}
      isDisabled={typed.trim() === ''}
      onSubmit={() => onDone(typed.trim())}
      onClose={onClose}
    >
      <Textarea
        label={words.label}
        description={words.hint}
        required
        autosize
        minRows={4}
        maxRows={16}
        data-autofocus
        {...upTo(TEXT_LENGTH_MAX)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
