import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './bar-list.module.css'
import { formatNumber } from './format.ts'

interface BarListProps {
  /** In place of its value, a row may show a figure. */
  rows: { key: string; label: ReactNode; value: number; figure?: ReactNode }[]
  /** The unit of the values. */
  unit: string
  empty: string
}

/** A ranking: the first row has the full width, the others a share of it. */
export function BarList({ rows, unit, empty }: BarListProps) {
  const max = Math.max(1, ...rows.map(({ value }) => value))
  if (rows.length === 0) {
    return (
      <Text size="sm" c="dimmed" py="md">
        {empty}
      </Text>
    )
  }
  return (
    <ol className={classes.list}>
      {rows.map(({ key, label, value, figure }) => (
        <li key={key} className={classes.row}>
          <span className={classes.bar} style={{ width: `${(value / max) * 100}%` }} aria-hidden />
          <span className={classes.label}>{label}</span>
          <span className={classes.value}>
            {figure ?? formatNumber(value)}
            <span className={classes.unit}> {unit}</span>
          </span>
        </li>
      ))}
    </ol>
  )
}
