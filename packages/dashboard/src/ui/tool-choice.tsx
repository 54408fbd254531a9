import { Checkbox, SimpleGrid, Stack, Switch } from '@mantine/core'
import { text } from './text.ts'

/** A tool of the MCP server. */
export interface ChoosableTool {
  name: string
  title: string
  /** The scopes that it needs. */
  scopes: readonly string[]
  reads: boolean
}

/** The choice of all tools. */
export const ALL_TOOLS = ['all']

interface ToolChoiceProps {
  tools: readonly ChoosableTool[]
  /** Names of tools, or `all` alone. */
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

/** The tools that scopes allow. */
export function toolsWithin<Tool extends ChoosableTool>(tools: readonly Tool[], scopes: readonly string[]): Tool[] {
  return tools.filter((tool) => tool.scopes.every((scope) => scopes.includes(scope)))
}

/** All tools, or some of them. */
export function ToolChoice({ tools, chosen, onChange }: ToolChoiceProps) {
  const isAll = chosen.includes('all')
  const names = tools.map(({ name }) => name)
  const parts = [
    { label: text.tools.reading, tools: tools.filter(({ reads }) => reads) },
    { label: text.tools.changing, tools: tools.filter(({ reads }) => !reads) },
  ]
  return (
    <Stack gap="xs">
      <Switch
        label={text.tools.all}
        description={text.tools.allDescription}
        checked={isAll}
        onChange={(event) => onChange(event.currentTarget.checked ? ALL_TOOLS : names)}
      />
      {isAll
        ? null
        : parts.map(({ label, tools: part }) =>
            part.length === 0 ? null : (
              <Checkbox.Group
                key={label}
                label={label}
                value={chosen.filter((name) => part.some((tool) => tool.name === name))}
                onChange={(values) =>
                  onChange([...chosen.filter((name) => !part.some((tool) => tool.name === name)), ...values])
                }
              >
                <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={8} mt="xs">
                  {part.map(({ name, title }) => (
                    <Checkbox key={name} value={name} label={title} />
                  ))}
                </SimpleGrid>
              </Checkbox.Group>
            ),
          )}
    </Stack>
  )
}
