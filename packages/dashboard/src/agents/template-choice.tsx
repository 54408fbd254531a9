import { Radio, SimpleGrid, Text } from '@mantine/core'
import type { Playbooks } from '../api/types.ts'
import classes from './agent-form.module.css'
import { text } from './text.ts'

interface TemplateChoiceProps {
  templates: Playbooks['templates']
  value: string | null
  onChange: (template: string | null) => void
}

const OWN = ''

/** The template of a new agent. */
export function TemplateChoice({ templates, value, onChange }: TemplateChoiceProps) {
  const choices = [
    ...templates,
    { name: OWN, title: text.template.custom, description: text.template.customDescription },
  ]
  return (
    <Radio.Group
      value={value ?? OWN}
      onChange={(name) => onChange(name === OWN ? null : name)}
      aria-label={text.template.title}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {choices.map(({ name, title, description }) => (
          <Radio.Card key={name} value={name} className={classes.template} p="sm">
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <Text size="xs" c="dimmed" mt={2}>
              {description}
            </Text>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  )
}
