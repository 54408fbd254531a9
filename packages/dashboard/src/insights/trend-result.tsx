import { Card, Checkbox, Group, Table } from '@mantine/core'
import { useState } from 'react'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { formatFigure, formatShare } from './axis.ts'
import { colorOf } from './colors.ts'
import { saveCsv } from './csv.ts'
import { ChartOrTable } from './daily-chart.tsx'
import { columnsOf, FiguresTable } from './figures-table.tsx'
import { longInterval, stateOfInterval } from './interval-keys.ts'
import { type Line, LineChart, legendOf, nameOf } from './line-chart.tsx'
import { LineDrawing, scaleOf } from './line-drawing.tsx'
import { PeopleFigure, useShowPeople, WithPeople } from './people-panel.tsx'
import type { Drawn } from './picture.tsx'
import type { Interval } from './question.ts'
import { DownloadButton, PictureButton, ResultHeader } from './result-header.tsx'
import { trendSummary } from './summary.ts'
import { text } from './text.ts'
import classes from './trend-result.module.css'
import { rowsOf, type TrendRow } from './trend-rows.ts'

const words = text.trend
/** More lines than that are hard to tell apart; the others can be shown in their rows. */
const LINES_SHOWN = 8
const PICTURE_HEIGHT = 440

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
          <ChartOrTable isTable={isTable} onChange={setTable} />
          <PictureButton
            fileName={words.fileName}
            summary={trendSummary(question)}
            draw={(width) => pictureOf(unit, answer.intervals, shown, width)}
          />
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(unit, answer.intervals, rows), answer.sample)} />
        </ResultHeader>
        {isTable ? (
          <FiguresTable
            label={words.figuresTable(unit)}
            unit={unit}
            keys={answer.intervals}
            columns={columnsOf(rows.filter(isShown))}
          />
        ) : (
          <Lines unit={unit} keys={answer.intervals} shown={shown} />
        )}
      </Card>
      <Totals rows={rows} isShown={isShown} onToggle={toggle} />
    </WithPeople>
  )
}

/** A row that is shown, and its place, which has a color. */
interface ShownRow {
  row: TrendRow
  index: number
}

interface LinesProps {
  unit: Interval
  keys: readonly string[]
  shown: readonly ShownRow[]
  height?: number
}

/** The lines, whose points open the people behind them. */
export function Lines({ shown, ...drawn }: LinesProps) {
  const { unit } = drawn
  const show = useShowPeople()
  const lines = shown.flatMap((each) => {
    const { name, at } = each.row
    if (show === null || at === undefined) return linesOf(each)
    const onOpen = (key: string) =>
      show({ name: words.within(name, longInterval(unit, key)), at: { ...at, interval: key } })
    return linesOf(each, onOpen)
  })
  return <LineChart label={words.chart(unit)} lines={lines} {...drawn} />
}

function linesOf({ row: { key, name, points, before }, index }: ShownRow, onOpen?: (key: string) => void): Line[] {
  const own = { key, name, color: index, points, ...(onOpen ? { onOpen } : {}) }
  return before ? [{ key: `${key} before`, name, color: index, points: before.points, isBefore: true }, own] : [own]
}

/** The same lines with their names, for a picture. */
function pictureOf(unit: Interval, all: readonly string[], shown: readonly ShownRow[], width: number): Drawn {
  const keys = all.filter((key) => stateOfInterval(unit, key) !== 'future')
  const drawn = { unit, keys, lines: shown.flatMap((each) => linesOf(each)), height: PICTURE_HEIGHT }
  return {
    drawing: <LineDrawing {...drawn} scale={scaleOf(drawn, width)} />,
    height: PICTURE_HEIGHT,
    legend: legendOf(drawn.lines).map((line) => ({
      name: nameOf(line),
      color: colorOf(line.color),
      isDashed: line.isBefore,
    })),
  }
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
                  <PeopleFigure at={row.at} name={row.name} value={row.total}>
                    {formatFigure(row.total)}
                  </PeopleFigure>
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

/** How much a total grew, as a part of the one before. */
export function changeOf({ total, before }: Pick<TrendRow, 'total' | 'before'>): number | null {
  if (total === null || !before?.total) return null
  return (total - before.total) / Math.abs(before.total)
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
