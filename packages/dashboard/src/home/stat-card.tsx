import { Card, Text } from '@mantine/core'
import { formatNumber } from '../ui/text.tsx'

interface StatCardProps {
  label: string
  value: number
  /** The same number in the period before. */
  before: number
}

/** A number with how it compares to the period before. */
export function StatCard({ label, value, before }: StatCardProps) {
  return (
    <Card>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={26} fw={650} lh={1.3}>
        {formatNumber(value)}
      </Text>
      <Text size="xs" c="dimmed">
        {changeText(value, before)}
      </Text>
    </Card>
  )
}

function changeText(value: number, before: number): string {
  if (before === 0) return value === 0 ? 'none before either' : 'none in the period before'
  const change = Math.round(((value - before) / before) * 100)
  if (change === 0) return `as before (${formatNumber(before)})`
  return `${change > 0 ? '+' : '−'}${Math.abs(change)}% from ${formatNumber(before)}`
}
