import { Button, Group, Text } from '@mantine/core'
import { useElementSize, useId } from '@mantine/hooks'
import { IconChartLine, IconTable } from '@tabler/icons-react'
import { type PointerEvent, useState } from 'react'
import { areaPath, labelEvery, linePath, niceTicks } from './chart-scale.ts'
import { formatNumber } from './format.ts'
import { text } from './text.ts'
import type { Trend } from './trend.ts'
import classes from './trend-chart.module.css'
import { TrendTable } from './trend-table.tsx'

const LEFT = 44
const RIGHT = 8
const TOP = 8
const BOTTOM = 24

/**
 * Numbers by day, as lines or as a table. Drawn without a chart library, which would be as large as the rest of the
 * first page.
 */
export function TrendChart({ label, data, series, height = 260, ...more }: Trend) {
  const [isTable, setTable] = useState(false)
  return (
    <figure aria-label={label} className={classes.figure}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="md">
          {isRunning(data) && series.some(isRising) ? (
            <Group gap={6}>
              <span className={classes.key} data-today />
              <Text size="xs" c="dimmed">
                {text.chart.todaySoFar}
              </Text>
            </Group>
          ) : null}
          {series.map(({ name, label: words, color, isDashed }) => (
            <Group key={name} gap={6}>
              <span className={classes.key} data-dashed={isDashed} style={{ borderColor: cssColor(color) }} />
              <Text size="xs" c="dimmed">
                {words}
              </Text>
            </Group>
          ))}
        </Group>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={isTable ? <IconChartLine size={14} aria-hidden /> : <IconTable size={14} aria-hidden />}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? text.trend.asChart : text.trend.asTable}
        </Button>
      </Group>
      {isTable ? (
        <TrendTable label={label} data={data} series={series} height={height} {...more} />
      ) : (
        <Lines label={label} data={data} series={series} height={height} />
      )}
    </figure>
  )
}

function Lines({ label, data, series, height = 260 }: Trend) {
  const { ref, width } = useElementSize()
  const [hovered, setHovered] = useState<number | null>(null)
  const id = useId()
  const max = Math.max(0, ...data.flatMap((row) => series.map(({ name }) => Number(row[name] ?? 0))))
  const ticks = niceTicks(max)
  const top = ticks.at(-1) ?? 1
  const ground = height - BOTTOM
  const x = (index: number) =>
    data.length > 1 ? LEFT + (index * (width - LEFT - RIGHT)) / (data.length - 1) : LEFT + (width - LEFT - RIGHT) / 2
  const y = (value: number) => ground - (value / top) * (ground - TOP)
  const every = labelEvery(data.length, width - LEFT)
  const hover = (event: PointerEvent<SVGSVGElement>) => {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const index = Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * (data.length - 1))
    setHovered(Math.min(Math.max(index, 0), data.length - 1))
  }
  const day = hovered === null ? undefined : data[hovered]
  // Part of a day would look like a fall, so the line to it is dotted.
  const isTodayLast = isRunning(data)
  return (
    <div ref={ref} className={classes.canvas} style={{ height }}>
      {width > 0 ? (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={text.trend.chart(label)}
          onPointerMove={hover}
          onPointerLeave={() => setHovered(null)}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line className={classes.grid} x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text className={classes.label} x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
                {compact(tick)}
              </text>
            </g>
          ))}
          {data.map((row, index) =>
            index % every === 0 ? (
              <text
                key={row.date}
                className={classes.label}
                x={x(index)}
                y={height - 6}
                textAnchor={anchorOf(index, data.length)}
              >
                {shortDay(String(row.date))}
              </text>
            ) : null,
          )}
          {series.map((each, index) => {
            const { name, color, isDashed } = each
            const points = data.map((row, at) => ({ x: x(at), y: y(Number(row[name] ?? 0)) }))
            const hasPart = isTodayLast && isRising(each)
            const complete = hasPart ? points.slice(0, -1) : points
            return (
              <g key={name} style={{ color: cssColor(color) }}>
                {isDashed ? null : (
                  <>
                    <linearGradient id={`${id}-${index}`} x1="0" y1="0" x2="0" y2="1">
                      <stop offset="0" stopColor="currentColor" stopOpacity="0.22" />
                      <stop offset="1" stopColor="currentColor" stopOpacity="0.02" />
                    </linearGradient>
                    <path d={areaPath(complete, ground)} fill={`url(#${id}-${index})`} />
                  </>
                )}
                <path className={classes.line} data-dashed={isDashed} d={linePath(complete)} />
                {hasPart ? <path className={classes.line} data-today d={linePath(points.slice(-2))} /> : null}
                {points.length === 1 ? <circle r={3.5} cx={points[0]?.x} cy={points[0]?.y} /> : null}
                {hovered === null ? null : <circle r={3.5} cx={points[hovered]?.x} cy={points[hovered]?.y} />}
              </g>
            )
          })}
          {hovered === null ? null : (
            <line className={classes.cursor} x1={x(hovered)} x2={x(hovered)} y1={TOP} y2={ground} />
          )}
        </svg>
      ) : null}
      {day && hovered !== null ? (
        <div
          className={classes.tooltip}
          data-side={x(hovered) > width / 2 ? 'left' : 'right'}
          style={{ left: x(hovered) }}
          aria-hidden
        >
          <strong>{day.date === today() ? text.chart.todaySoFar : longDay(String(day.date))}</strong>
          {series.map(({ name, label: words, color }) => (
            <div key={name}>
              <span style={{ color: cssColor(color) }}>●</span>{' '}
              {text.trend.value(words, formatNumber(Number(day[name] ?? 0)))}
            </div>
          ))}
        </div>
      ) : null}
    </div>
  )
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Whether the last day is still running. */
function isRunning(data: Trend['data']): boolean {
  return data.at(-1)?.date === today()
}

/** Whether today's number is still rising. */
function isRising({ isDashed = false, isLevel = false }: Trend['series'][number]): boolean {
  return !isDashed && !isLevel
}

/** The first and the last label stay within the chart; a single one is in the middle. */
function anchorOf(index: number, count: number): 'start' | 'middle' | 'end' {
  if (count === 1) return 'middle'
  if (index === 0) return 'start'
  return index === count - 1 ? 'end' : 'middle'
}

function cssColor(color: string): string {
  return `var(--mantine-color-${color.replace('.', '-')})`
}

const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact' })
const SHORT = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const LONG = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })

function compact(value: number): string {
  return COMPACT.format(value)
}

function shortDay(date: string): string {
  return SHORT.format(new Date(date))
}

function longDay(date: string): string {
  return LONG.format(new Date(date))
}
