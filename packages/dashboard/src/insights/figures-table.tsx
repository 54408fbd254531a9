import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { Foreign } from '../ui/text.tsx'
import { formatFigure } from './axis.ts'
import classes from './figures-table.module.css'
import { longInterval, stateOfInterval } from './interval-keys.ts'
import type { StateOf } from './line-drawing.tsx'
import { PeopleFigure, type Place } from './people-panel.tsx'
import type { Interval } from './question.ts'
import { text } from './text.ts'
import type { Figures, TrendRow } from './trend-rows.ts'

const words = text.trend

/** A line of a chart as a column of its table. */
export interface FiguresColumn {
  key: string
  name: string
  points: readonly (number | null)[]
  /** What names the number of an interval, where its people can be listed. */
  at?: ((interval: string) => Place) | undefined
}

interface FiguresTableProps {
  label: string
  unit: Interval
  keys: readonly string[]
  columns: readonly FiguresColumn[]
  /** The heading of an interval's row, in place of its name. */
  headingOf?: ((key: string) => ReactNode) | undefined
  stateOf?: StateOf
  format?: ((figure: number | null | undefined) => string) | undefined
}

/** Every figure of some lines, newest first. */
export function FiguresTable({
  label,
  unit,
  keys,
  columns,
  headingOf,
  stateOf = stateOfInterval,
  format = formatFigure,
}: FiguresTableProps) {
  const intervals = keys.map((key, index) => ({ key, index })).filter(({ key }) => stateOf(unit, key) !== 'future')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.figures} aria-label={label} tabIndex={0}>
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
                {headingOf ? headingOf(key) : longInterval(unit, key)}
              </Table.Th>
              {columns.map((column) => (
                <Table.Td key={column.key} ta="right">
                  <PeopleFigure
                    at={column.at?.(key)}
                    name={words.within(column.name, longInterval(unit, key))}
                    value={column.points[index]}
                  >
                    {format(column.points[index])}
                  </PeopleFigure>
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
export function columnsOf(rows: readonly TrendRow[]): (Figures & FiguresColumn)[] {
  return rows.flatMap(({ before, at, ...row }) => [
    { ...row, at: at && ((interval: string) => ({ ...at, interval })) },
    ...(before ? [{ key: `${row.key} before`, name: words.before(row.name), ...before }] : []),
  ])
}
