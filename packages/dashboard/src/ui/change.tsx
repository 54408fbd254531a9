import { Badge } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import { text } from './text.ts'

interface ChangeProps {
  value: number
  /** The number in the period before. */
  before: number
  /** Whether a fall is good news. */
  lessIsBetter?: boolean
}

/** How much a number grew since the period before, in percent; nothing if it did not, or if there was nothing. */
export function Change({ value, before, lessIsBetter = false }: ChangeProps) {
  const percent = before === 0 ? 0 : Math.round(((value - before) / before) * 100)
  if (percent === 0) return null
  const Icon = percent > 0 ? IconArrowUpRight : IconArrowDownRight
  return (
    <Badge
      size="sm"
      variant="light"
      color={percent > 0 !== lessIsBetter ? 'teal' : 'orange'}
      leftSection={<Icon size={12} aria-hidden />}
    >
      {percent > 0 ? text.change.rise(percent) : text.change.fall(-percent)}
    </Badge>
  )
}
