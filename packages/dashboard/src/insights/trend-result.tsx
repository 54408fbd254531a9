import { Button, Card, Checkbox, Group, Table } from '@mantine/core'
import { IconChartLine, IconTable } from '@tabler/icons-react'
import { useState } from 'react'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { formatFigure, formatShare } from './axis.ts'
import { colorOf } from './colors.ts'
import { saveCsv } from './csv.ts'
import { longInterval, stateOfInterval } from './interval-keys.ts'
import { type Line, LineChart } from './line-chart.tsx'
import { PeopleFigure, WithPeople } from './people-panel.tsx'
import type { Interval } from './question.ts'
import { DownloadButton, ResultHeader } from './result-header.tsx'
import { text } from './text.ts'
import classes from './trend-result.module.css'
import { type Figures, rowsOf, type TrendRow } from './trend-rows.ts'

const words = text.trend
/** More lines than that are hard to tell apart; the others can be shown in their rows. */
const LINES_SHOWN = 8

/** The lines of a trend, their totals, and all figures as a table. */
export function TrendResult({ question, answer }: Answered<'insightTrend'>) {
  const [isTable, setTable] = useState(false)
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const unit = question.interval ?? 'day'
  const rows = rowsOf(question, answer)
  const isShown = ({ key }: TrendRow, index: number) => index < LINES_SHOWN !== toggled.has(key)
  const shown = rows.map((row, index) => ({ row, index })).filter(({ row, index }) => isShown(row, index))
  const toggle = (key: string) =>
    setToggled(new Set([...toggled].filter((each) => each !== key).concat(toggled.has(key) ? [] : [key])))
  return (
    <WithPeople kind="trend" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.heading(unit)}>
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            leftSection={isTable ? <IconChartLine size={14} aria-hidden /> : <IconTable size={14} aria-hidden />}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? words.asChart : words.asTable}
          </Button>
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(unit, answer.intervals, rows), answer.sample)} />
        </ResultHeader>
        {isTable ? (
          <FiguresTable unit={unit} keys={answer.intervals} rows={rows.filter(isShown)} />
        ) : (
          <LineChart
            label={words.chart(unit)}
            unit={unit}
            keys={answer.intervals}
            lines={shown.flatMap(({ row, index }) => linesOf(row, index))}
          />
        )}
      </Card>
      <Totals rows={rows} isShown={isShown} onToggle={toggle} />
    </WithPeople>
  )
}

function linesOf({ key, name, points, before }: TrendRow, color: number): Line[] {
  const own = { key, name, color, points }
  return before ? [{ key: `${key} before`, name, color, points: before.points, isBefore: true }, own] : [own]
}

interface TotalsProps {
  rows: readonly TrendRow[]
  isShown: (row: TrendRow, index: number) => boolean
  onToggle: (key: string) => void
}

/** The total of each series, which its line's color names. */
function Totals({ rows, isShown, onToggle }: TotalsProps) {
  const isCompared = rows.some(({ before }) => before !== undefined)
  return (
    <Card p={0}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={classes.scroll} aria-label={words.totals} tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{words.series}</Table.Th>
              <Table.Th scope="col" ta="right">
                {words.total}
              </Table.Th>
              {isCompared ? (
                <>
                  <Table.Th scope="col" ta="right">
                    {words.totalBefore}
                  </Table.Th>
                  <Table.Th scope="col" ta="right">
                    {words.change}
                  </Table.Th>
                </>
              ) : null}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, index) => (
              <Table.Tr key={row.key}>
                <Table.Th scope="row" fw={400}>
                  <Group gap="xs" wrap="nowrap">
                    <Checkbox
                      size="xs"
                      aria-label={words.show(row.name.slice(0, 100))}
                      checked={isShown(row, index)}
                      onChange={() => onToggle(row.key)}
                    />
                    <span className={classes.key} style={{ borderColor: colorOf(index) }} aria-hidden />
                    <Foreign max={120}>{row.name}</Foreign>
                  </Group>
                </Table.Th>
                <Table.Td ta="right" fw={600}>
                  <Figure at={row.at} name={row.name} value={row.total} />
                </Table.Td>
                {isCompared ? (
                  <>
                    <Table.Td ta="right">{formatFigure(row.before?.total)}</Table.Td>
                    <Table.Td ta="right">{formatShare(changeOf(row))}</Table.Td>
                  </>
                ) : null}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </Card>
  )
}

interface FigureProps {
  at: TrendRow['at'] | undefined
  name: string
  value: number | null | undefined
}

function Figure(props: FigureProps) {
  return <PeopleFigure {...props}>{formatFigure(props.value)}</PeopleFigure>
}

/** How much a total grew, as a part of the one before. */
function changeOf({ total, before }: TrendRow): number | null {
  if (total === null || !before?.total) return null
  return (total - before.total) / Math.abs(before.total)
}

interface FiguresTableProps {
  unit: Interval
  keys: readonly string[]
  rows: readonly TrendRow[]
}

/** Every figure of the lines that are shown, newest first. */
function FiguresTable({ unit, keys, rows }: FiguresTableProps) {
  const columns = columnsOf(rows)
  const intervals = keys
    .map((key, index) => ({ key, index }))
    .filter(({ key }) => stateOfInterval(unit, key) !== 'future')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.figures} aria-label={words.figuresTable(unit)} tabIndex={0}>
      <Table stickyHeader verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{words.interval1[unit]}</Table.Th>
            {columns.map(({ key, name }) => (
              <Table.Th key={key} scope="col" ta="right">
                <Foreign max={60}>{name}</Foreign>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {intervals.toReversed().map(({ key, index }) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" fw={400}>
                {longInterval(unit, key)}
              </Table.Th>
              {columns.map((column) => (
                <Table.Td key={column.key} ta="right">
                  <Figure
                    at={column.at && { ...column.at, interval: key }}
                    name={words.within(column.name, longInterval(unit, key))}
                    value={column.points[index]}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

/** Each series, and what it is compared with. */
function columnsOf(rows: readonly TrendRow[]): (Figures & Pick<TrendRow, 'key' | 'name' | 'at'>)[] {
  return rows.flatMap(({ before, ...row }) => [
    row,
    ...(before ? [{ key: `${row.key} before`, name: words.before(row.name), ...before }] : []),
  ])
}

/** A line for each interval, then the totals. */
function csvOf(unit: Interval, keys: readonly string[], rows: readonly TrendRow[]): (string | number | null)[][] {
  const columns = columnsOf(rows)
  return [
    [words.interval1[unit], ...columns.map(({ name }) => name)],
    ...keys.map((key, index) => [key, ...columns.map(({ points }) => points[index] ?? null)]),
    [words.total, ...columns.map(({ total }) => total)],
  ]
}
