import { Alert, Badge, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Playbooks } from '../api/types.ts'
import { FieldRows } from '../ui/field-rows.tsx'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { type AgentDraft, newVariable } from './agent-draft.ts'
import classes from './agent-form.module.css'
import { text } from './text.ts'

interface PlaybookFieldsProps {
  draft: Pick<AgentDraft, 'template' | 'instructions' | 'variables'>
  playbooks: Playbooks
  onChange: (changes: Partial<AgentDraft>) => void
}

/** The agent's instructions, and the variables that they can use. */
export function PlaybookFields({ draft, playbooks, onChange }: PlaybookFieldsProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { template, instructions, variables } = draft
  const own = variables.map(({ name }) => name.trim()).filter(Boolean)
  const [asked] = useDebouncedValue({ instructions, own: own.join() }, 400)
  const { data: { unknown } = { unknown: [] } } = useQuery({
    ...queryOf('checkPlaybook', {
      playbook_md: asked.instructions,
      ...(template === null ? {} : { playbook_template: template }),
      variables: asked.own === '' ? [] : asked.own.split(','),
    }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const insert = (name: string) => {
    const area = field.current
    const [from, to] = [area?.selectionStart ?? instructions.length, area?.selectionEnd ?? instructions.length]
    const variable = `{{${name}}}`
    onChange({ instructions: instructions.slice(0, from) + variable + instructions.slice(to) })
    requestAnimationFrame(() => {
      area?.focus()
      area?.setSelectionRange(from + variable.length, from + variable.length)
    })
  }
  const names = [
    ...playbooks.variables.map(({ name, is_any_property: isAny }) =>
      isAny ? name.replace('<property>', 'name') : name,
    ),
    ...own.map((name) => `variables.${name}`),
  ]
  return (
    <Stack gap="sm">
      <Textarea
        ref={field}
        label={text.instructions.label}
        description={text.instructions.description}
        autosize
        minRows={10}
        maxRows={28}
        {...upTo(50_000)}
        value={instructions}
        onChange={(event) => onChange({ instructions: event.currentTarget.value })}
        classNames={{ input: classes.playbook ?? '' }}
        spellCheck
      />
      {unknown.length > 0 ? (
        <Alert color="orange" role="alert" title={text.instructions.unknown(unknown.length)}>
          {unknown.map((name) => (
            <Badge key={name} color="orange" mr={6}>
              <Foreign max={80}>{`{{${name}}}`}</Foreign>
            </Badge>
          ))}
          <Text size="sm" mt={4}>
            {text.instructions.unknownHint}
          </Text>
        </Alert>
      ) : null}
      <div>
        <Text size="sm" fw={500} mb={4}>
          {text.instructions.variables}
        </Text>
        <Text size="xs" c="dimmed" mb={6}>
          {text.instructions.variablesHint}
        </Text>
        <Group gap={6}>
          {names.map((name) => (
            <Button
              key={name}
              variant="light"
              color="gray"
              size="compact-xs"
              ff="monospace"
              onClick={() => insert(name)}
            >
              {name.slice(0, 60)}
            </Button>
          ))}
        </Group>
      </div>
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          {text.instructions.own}
        </Text>
        <FieldRows
          rows={variables}
          onChange={(changed) => onChange({ variables: changed })}
          newRow={newVariable}
          keyOf={({ id }) => id}
          addLabel={text.instructions.add}
          removeLabel={text.instructions.remove}
        >
          {({ name, value }, number, change) => (
            <>
              <TextInput
                aria-label={text.instructions.ownName(number)}
                placeholder={text.instructions.namePlaceholder}
                value={name}
                onChange={(event) => change({ name: event.currentTarget.value })}
                {...upTo(64)}
                w="30%"
              />
              <Textarea
                aria-label={text.instructions.ownValue(number)}
                placeholder={text.instructions.valuePlaceholder}
                autosize
                minRows={1}
                maxRows={5}
                value={value}
                onChange={(event) => change({ value: event.currentTarget.value })}
                {...upTo(2_000)}
                flex={1}
              />
            </>
          )}
        </FieldRows>
      </Stack>
    </Stack>
  )
}
