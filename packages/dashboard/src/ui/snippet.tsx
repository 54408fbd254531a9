import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** Code to copy. @param label for screen readers. */
export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <Group gap="xs" align="flex-start">
      <Code block flex="1 1 260px" miw={0} tabIndex={0} role="region" aria-label={`Code: ${label}`}>
        {code}
      </Code>
      <CopyButton value={code} label={label} withText />
    </Group>
  )
}
