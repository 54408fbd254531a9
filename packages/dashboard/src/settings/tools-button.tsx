import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ToolChoice, toolsWithin } from '../ui/tool-choice.tsx'
import { text as texts } from './text.ts'

const text = texts.tools

interface ToolsButtonProps {
  /** The key or the application, for screen readers. */
  name: string
  scopes: readonly string[]
  tools: readonly string[]
  onSave: (tools: string[]) => Promise<unknown>
}

/** Changes the tools that a key or an application may use. */
export function ToolsButton({ name, ...edited }: ToolsButtonProps) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" size="xs" onClick={open} aria-label={text.label(name)}>
        {text.button}
      </Button>
      {isOpen ? <ToolsDialog {...edited} onClose={close} /> : null}
    </>
  )
}

function ToolsDialog({ scopes, tools, onSave, onClose }: Omit<ToolsButtonProps, 'name'> & { onClose: () => void }) {
  const { data, error } = useQuery({ ...queryOf('listTools'), staleTime: Number.POSITIVE_INFINITY })
  const [chosen, setChosen] = useState([...tools])
  const saving = useMutation({ mutationFn: () => onSave(chosen), onSuccess: onClose })
  return (
    <FormDialog
      title={text.title}
      submit={text.save}
      size="lg"
      sending={{ isPending: saving.isPending, error: saving.error ?? error }}
      onSubmit={() => saving.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{text.explanation}</Text>
      <ToolChoice tools={toolsWithin(data?.tools ?? [], scopes)} chosen={chosen} onChange={setChosen} />
    </FormDialog>
  )
}
