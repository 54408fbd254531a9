import { Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Names with their values, one per line. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <Stack component="dl" gap={8} m={0}>
      {facts.map(([name, value]) => (
        <Group key={name} justify="space-between" wrap="nowrap" gap="md" align="center">
          <Text component="dt" size="sm" c="dimmed" flex="none">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0} miw={0} ta="right" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}
