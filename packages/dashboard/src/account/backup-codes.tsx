import { Code, Stack } from '@mantine/core'
import { CopyButton } from '../ui/copy-button.tsx'

export function BackupCodes({ codes }: { codes: string[] }) {
  const text = codes.join('\n')
  return (
    <Stack gap="sm" align="flex-start">
      <Code block w="100%" style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Code>
      <CopyButton value={text} label="the codes" withText />
    </Stack>
  )
}
