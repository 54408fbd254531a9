import { Code, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'
import { text } from './text.ts'

/** Code to copy. @param label for screen readers. */
export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <Group gap="xs" align="flex-start">
      <Code block flex="1 1 260px" miw={0} tabIndex={0} role="region" aria-label={text.copy.code(label)}>
        {code}
      </Code>
      <CopyButton value={code} label={label} withText />
    </Group>
  )
}
