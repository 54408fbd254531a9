import { Card, SimpleGrid, Text } from '@mantine/core'
import type { ImportCounts } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'

const NAMES = ['created', 'updated', 'unchanged', 'failed'] as const

/** The four counts of an import or its preview. */
export function CountCards({ counts, labels }: { counts: ImportCounts; labels: Record<keyof ImportCounts, string> }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
      {NAMES.map((name) => (
        <Card key={name} padding="sm">
          <Text size="xs" c="dimmed">
            {labels[name]}
          </Text>
          <Text fw={650} fz={20} lh={1.3} c={name === 'failed' && counts.failed > 0 ? 'red' : undefined}>
            {formatNumber(counts[name])}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  )
}
