import { Checkbox, Stack } from '@mantine/core'
import { text } from './text.ts'

interface ScopeChoiceProps {
  /** What the person can give. */
  possible: readonly string[]
  chosen: string[]
  onChange: (scopes: string[]) => void
}

/** The scopes as what an application may read and change. */
export function ScopeChoice({ possible, chosen, onChange }: ScopeChoiceProps) {
  const isReading = (scope: string) => scope.endsWith(':read')
  const parts = [
    { label: text.reading, scopes: possible.filter(isReading) },
    { label: text.changing, scopes: possible.filter((scope) => !isReading(scope)) },
  ]
  return parts.map(({ label, scopes }) =>
    scopes.length === 0 ? null : (
      <Checkbox.Group
        key={label}
        label={label}
        value={chosen.filter((scope) => scopes.includes(scope))}
        onChange={(values) => onChange([...chosen.filter((scope) => !scopes.includes(scope)), ...values])}
        {...(chosen.length === 0 ? { error: text.noScope } : {})}
      >
        <Stack gap={8} mt="xs">
          {scopes.map((scope) => (
            <Checkbox key={scope} value={scope} label={text.scopes[scope] ?? scope} />
          ))}
        </Stack>
      </Checkbox.Group>
    ),
  )
}
