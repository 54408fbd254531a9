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

/** Whether personal data is hidden from AI agents. */
export function RedactionBadge({ redacts }: { redacts: boolean }) {
  return <Badge color={redacts ? 'green' : 'yellow'}>{text.keys.personal[redacts ? 'hidden' : 'visible']}</Badge>
}
