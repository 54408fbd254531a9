import { Badge, Group, Tooltip } from '@mantine/core'
import { text } from './text.ts'

const SCOPES_SHOWN = 2

/** The first scopes; hover, focus and screen readers get all of them. */
export function ScopeBadges({ scopes }: { scopes: string[] }) {
  const more = scopes.slice(SCOPES_SHOWN)
  return (
    <Group gap={4}>
      {scopes.slice(0, SCOPES_SHOWN).map((scope) => (
        <Badge key={scope} color="gray">
          {scope}
        </Badge>
      ))}
      {more.length > 0 ? (
        <Tooltip label={more.join(', ')} multiline maw={320}>
          {/* Focusable, because the keyboard has no other way to the other scopes. */}
          <Badge color="gray" tabIndex={0} role="note" aria-label={text.keys.otherScopes(more.join(', '))}>
            {text.keys.moreScopes(more.length)}
          </Badge>
        </Tooltip>
      ) : null}
    </Group>
  )
}

/** Whether personal data is hidden from AI agents, and whether the key works only over MCP. */
export function RedactionBadge({ redacts, isMcpOnly = false }: { redacts: boolean; isMcpOnly?: boolean }) {
  return (
    <Group gap={4}>
      <Badge color={redacts ? 'green' : 'yellow'}>{text.keys.personal[redacts ? 'hidden' : 'visible']}</Badge>
      {isMcpOnly ? <Badge color="gray">{text.keys.personal.mcpOnly}</Badge> : null}
    </Group>
  )
}

/** How many tools were chosen; hover, focus and screen readers get their names. */
export function ToolsBadge({ tools }: { tools: readonly string[] }) {
  if (tools.includes('all')) return <Badge color="gray">{text.tools.all}</Badge>
  if (tools.length === 0) return <Badge color="gray">{text.tools.none}</Badge>
  const names = tools.join(', ')
  return (
    <Tooltip label={names} multiline maw={320}>
      <Badge color="gray" tabIndex={0} role="note" aria-label={names}>
        {text.tools.some(tools.length)}
      </Badge>
    </Tooltip>
  )
}
