import { Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { toolsQuery } from '../api/keys.ts'
import { Form, FormButtons, FormError } from '../ui/form.tsx'
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
      <Modal opened={isOpen} onClose={close} title={text.title} size="lg">
        <ToolsForm {...edited} onClose={close} />
      </Modal>
    </>
  )
}

function ToolsForm({ scopes, tools, onSave, onClose }: Omit<ToolsButtonProps, 'name'> & { onClose: () => void }) {
  const { data: all = [], error } = useQuery(toolsQuery)
  const [chosen, setChosen] = useState([...tools])
  const saving = useMutation({ mutationFn: () => onSave(chosen), onSuccess: onClose })
  return (
    <Form onSubmit={() => saving.mutate()}>
      <Text size="sm">{text.explanation}</Text>
      <ToolChoice tools={toolsWithin(all, scopes)} chosen={chosen} onChange={setChosen} />
      <FormError error={saving.error ?? error} />
      <FormButtons submit={text.save} cancel={text.cancel} isPending={saving.isPending} onCancel={onClose} />
    </Form>
  )
}
