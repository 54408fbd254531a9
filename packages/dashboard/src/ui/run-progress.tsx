import { Progress, Stack, Text } from '@mantine/core'

/** How far long work is: a sentence, and a bar. @param label of the bar, for screen readers. */
export function RunProgress({ children, share, label }: { children: string; share: number; label: string }) {
  return (
    <Stack gap={4} role="status" miw={90}>
      <Text size="sm">{children}</Text>
      <Progress value={Math.round(share * 100)} size="sm" aria-label={label} animated />
    </Stack>
  )
}
