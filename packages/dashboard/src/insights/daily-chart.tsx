import { Button, Group, Text } from '@mantine/core'
import { IconChartLine, IconTable } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { FiguresTable } from './figures-table.tsx'
import classes from './line-chart.module.css'
import { type Line, LineChart, LineKey, legendOf, nameOf } from './line-chart.tsx'
import { text } from './text.ts'

const words = text.trend

interface DailyChartProps {
  label: string
  /** Days (UTC). */
  days: readonly string[]
  lines: readonly Line[]
  height?: number
  /** The heading of a day in the table, in place of its name. */
  headingOf?: (day: string) => ReactNode
}

/** Figures by day (UTC), as lines with their legend or as a table. */
export function DailyChart({ label, days, lines, height = 260, headingOf }: DailyChartProps) {
  const [isTable, setTable] = useState(false)
  const legend = legendOf(lines)
  const isRunning =
    stateInUtc('day', days.at(-1) ?? '') === 'running' && lines.some(({ isBefore, isLevel }) => !isBefore && !isLevel)
  return (
    <div>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="md">
          {isRunning ? (
            <Group gap={6}>
              <span className={classes.key} data-running />
              <Text size="xs" c="dimmed">
                {words.todaySoFar}
              </Text>
            </Group>
          ) : null}
          {legend.map((line) => (
            <Group key={line.key} gap={6}>
              <LineKey line={line} />
              <Text size="xs" c="dimmed">
                {nameOf(line)}
              </Text>
            </Group>
          ))}
        </Group>
        <ChartOrTable isTable={isTable} onChange={setTable} />
      </Group>
      {isTable ? (
        <FiguresTable
          label={label}
          unit="day"
          keys={days}
          columns={legend.map((line) => ({ key: line.key, name: nameOf(line), points: line.points }))}
          headingOf={headingOf}
          stateOf={stateInUtc}
        />
      ) : (
        <LineChart label={label} unit="day" keys={days} lines={lines} height={height} stateOf={stateInUtc} />
      )}
    </div>
  )
}

function stateInUtc(_unit: string, day: string): 'over' | 'running' | 'future' {
  const today = new Date().toISOString().slice(0, 10)
  if (day === today) return 'running'
  return day < today ? 'over' : 'future'
}

/** Shows figures as a table in place of a chart, or the other way around. */
export function ChartOrTable({ isTable, onChange }: { isTable: boolean; onChange: (isTable: boolean) => void }) {
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-xs"
      leftSection={isTable ? <IconChartLine size={14} aria-hidden /> : <IconTable size={14} aria-hidden />}
      onClick={() => onChange(!isTable)}
    >
      {isTable ? words.asChart : words.asTable}
    </Button>
  )
}
