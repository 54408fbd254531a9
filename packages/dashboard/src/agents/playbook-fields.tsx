import { ActionIcon, Alert, Badge, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { type Playbooks, unknownVariablesQuery } from '../api/agents.ts'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { type AgentDraft, newVariable } from './agent-draft.ts'
import classes from './agent-form.module.css'

interface PlaybookFieldsProps {
  draft: Pick<AgentDraft, 'template' | 'text' | 'variables'>
  playbooks: Playbooks
  onChange: (changes: Partial<AgentDraft>) => void
}

/** The agent's instructions, and the variables that they can use. */
export function PlaybookFields({ draft, playbooks, onChange }: PlaybookFieldsProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { template, text, variables } = draft
  const own = variables.map(({ name }) => name.trim()).filter(Boolean)
  const [asked] = useDebouncedValue({ text, own: own.join() }, 400)
  const { data: unknown = [] } = useQuery(
    unknownVariablesQuery({
      playbook_md: asked.text,
      ...(template === null ? {} : { playbook_template: template }),
      variables: asked.own === '' ? [] : asked.own.split(','),
    }),
  )
  const insert = (name: string) => {
    const area = field.current
    const [from, to] = [area?.selectionStart ?? text.length, area?.selectionEnd ?? text.length]
    const variable = `{{${name}}}`
    onChange({ text: text.slice(0, from) + variable + text.slice(to) })
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
        label="Playbook"
        description="Markdown. Text after a bar is used if there is no value: {{contact.firstname | there}}."
        autosize
        minRows={10}
        maxRows={28}
        {...upTo(50_000)}
        value={text}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
        classNames={{ input: classes.playbook ?? '' }}
        spellCheck
      />
      {unknown.length > 0 ? (
        <Alert color="orange" role="alert" title={unknown.length === 1 ? 'Unknown variable' : 'Unknown variables'}>
          {unknown.map((name) => (
            <Badge key={name} color="orange" mr={6}>
              <Foreign max={80}>{`{{${name}}}`}</Foreign>
            </Badge>
          ))}
          <Text size="sm" mt={4}>
            Correct them, or add them below as variables of this playbook.
          </Text>
        </Alert>
      ) : null}
      <div>
        <Text size="sm" fw={500} mb={4}>
          Variables
        </Text>
        <Text size="xs" c="dimmed" mb={6}>
          Click one to insert it at the cursor. Any property name can follow contact. and company.
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
          Variables of this playbook
        </Text>
        {variables.map(({ id, name, value }, index) => {
          const change = (changes: object) =>
            onChange({ variables: variables.map((each) => (each.id === id ? { ...each, ...changes } : each)) })
          return (
            <Group key={id} gap="xs" align="flex-start" wrap="nowrap">
              <TextInput
                aria-label={`Name of variable ${index + 1}`}
                placeholder="name"
                value={name}
                onChange={(event) => change({ name: event.currentTarget.value })}
                {...upTo(64)}
                w="30%"
              />
              <Textarea
                aria-label={`Value of variable ${index + 1}`}
                placeholder="value"
                autosize
                minRows={1}
                maxRows={5}
                value={value}
                onChange={(event) => change({ value: event.currentTarget.value })}
                {...upTo(2_000)}
                flex={1}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                aria-label={`Remove variable ${index + 1}`}
                onClick={() => onChange({ variables: variables.filter((each) => each.id !== id) })}
              >
                <IconX size={16} aria-hidden />
              </ActionIcon>
            </Group>
          )
        })}
        <div>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => onChange({ variables: [...variables, newVariable()] })}
          >
            Variable
          </Button>
        </div>
      </Stack>
    </Stack>
  )
}
