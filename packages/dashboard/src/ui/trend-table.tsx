import { Table } from '@mantine/core'
import { formatNumber } from './format.ts'
import { text } from './text.ts'
import type { Trend } from './trend.ts'
import classes from './trend-chart.module.css'

/** The numbers of a chart, newest day first. */
export function TrendTable({ label, data, series, height, dayLabel = (day) => day }: Trend) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.numbers} aria-label={label} tabIndex={0} style={{ height }}>
      <Table stickyHeader verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{text.trend.day}</Table.Th>
            {series.map(({ name, label: heading }) => (
              <Table.Th key={name} scope="col" ta="right">
                {heading}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.toReversed().map((row) => (
            <Table.Tr key={row.date}>
              <Table.Th scope="row" fw={400}>
                {dayLabel(String(row.date))}
              </Table.Th>
              {series.map(({ name }) => (
                <Table.Td key={name} ta="right">
                  {formatNumber(Number(row[name] ?? 0))}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
