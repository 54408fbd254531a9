import { Box, Card, Group, Text } from '@mantine/core'
import { Change } from '../ui/change.tsx'
import { formatNumber } from '../ui/format.ts'
import { Sparkline } from '../ui/sparkline.tsx'
import { text as texts } from './text.ts'

const text = texts.figures

interface StatCardProps {
  label: string
  value: number
  /** The number in the previous period. */
  before: number
  byDay?: number[]
}

/** A number, compared to the previous period. */
export function StatCard({ label, value, before, byDay }: StatCardProps) {
  return (
    <Card>
      <Group justify="space-between" wrap="nowrap" align="flex-end" gap="xs">
        <Box miw={0}>
          <Text size="sm" c="dimmed">
            {label}
          </Text>
          <Text fz={26} fw={650} lh={1.35} style={{ whiteSpace: 'nowrap' }}>
            {formatNumber(value)}
          </Text>
        </Box>
        {byDay && byDay.length > 1 ? (
          <Box visibleFrom="xl" mb={6}>
            <Sparkline values={byDay} label={text.byDay(label)} />
          </Box>
        ) : null}
      </Group>
      <Group gap={6} mt={2}>
        <Change value={value} before={before} />
        <Text size="xs" c="dimmed">
          {text.before(before)}
        </Text>
      </Group>
    </Card>
  )
}
