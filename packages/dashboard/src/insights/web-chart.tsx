import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { saveCsv } from './csv.ts'
import { ChartOrTable } from './daily-chart.tsx'
import { type FiguresColumn, FiguresTable } from './figures-table.tsx'
import { longInterval, unitOf } from './interval-keys.ts'
import { LineChart } from './line-chart.tsx'
import { useShowPeople } from './people-panel.tsx'
import { INTERVALS } from './question.ts'
import { DownloadButton, ResultHeader } from './result-header.tsx'
import { text as shared } from './text.ts'
import { type Figure, formatOf, pointsOf } from './web-figures.ts'
import type { WebAnswer, WebChanges, WebQuestion } from './web-question.ts'
import { text } from './web-text.ts'

const words = shared.trend

interface WebChartProps {
  question: WebQuestion
  answer: WebAnswer
  figure: Figure
  /** Absent where the question cannot be changed. */
  onChange?: ((changes: WebChanges) => void) | undefined
}

/** A figure over time, and in the period before. */
export function WebChart({ question, answer, figure, onChange }: WebChartProps) {
  const [isTable, setTable] = useState(false)
  const { intervals, compare } = answer
  const unit = unitOf(intervals[0] ?? '')
  const name = text.figures[figure]
  const at = figure === 'people' ? (interval: string) => ({ interval }) : undefined
  const own = { key: 'now', name, points: pointsOf(answer, figure) }
  const before = compare ? { key: 'before', name, points: pointsOf(compare, figure) } : undefined
  const columns: FiguresColumn[] = [{ ...own, at }, ...(before ? [{ ...before, name: words.before(name) }] : [])]
  const show = useShowPeople()
  const onOpen =
    show === null || at === undefined
      ? undefined
      : (key: string) => show({ name: words.within(name, longInterval(unit, key)), at: at(key) })
  const lines = [
    ...(before ? [{ ...before, color: 0, isBefore: true }] : []),
    { ...own, color: 0, ...(onOpen ? { onOpen } : {}) },
  ]
  const csv = () => [
    [words.interval1[unit], ...columns.map((column) => column.name)],
    ...intervals.map((key, index) => [key, ...columns.map(({ points }) => points[index] ?? null)]),
  ]
  return (
    <>
      <ResultHeader heading={text.chart(name, unit)}>
        {onChange ? (
          <NativeSelect
            size="xs"
            aria-label={text.interval}
            data={[
              { value: '', label: text.automatic },
              ...INTERVALS.map((each) => ({ value: each, label: words.intervals[each] })),
            ]}
            value={question.interval ?? ''}
            onChange={({ currentTarget: { value } }) =>
              onChange({ interval: INTERVALS.find((each) => each === value) })
            }
          />
        ) : null}
        <ChartOrTable isTable={isTable} onChange={setTable} />
        <DownloadButton onClick={() => saveCsv(text.fileName, csv(), answer.sample)} />
      </ResultHeader>
      {isTable ? (
        <FiguresTable
          label={words.figuresTable(unit)}
          unit={unit}
          keys={intervals}
          columns={columns}
          format={formatOf(figure)}
        />
      ) : (
        <LineChart
          label={text.chart(name, unit)}
          unit={unit}
          keys={intervals}
          lines={lines}
          format={figure === 'bounce_rate' || figure === 'visit_seconds' ? formatOf(figure) : undefined}
        />
      )}
    </>
  )
}
