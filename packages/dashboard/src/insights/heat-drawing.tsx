import type { RetentionCohort } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'
import { formatShare } from './axis.ts'
import { colorOf } from './colors.ts'
import { mediumInterval } from './interval-keys.ts'
import classes from './picture.module.css'
import type { Drawn } from './picture.tsx'
import type { Interval } from './question.ts'
import { text } from './text.ts'

const words = text.retention
const ROW = 30
const NAME = 210
const SIZE = 70

interface Cohorts {
  unit: Interval
  cohorts: readonly RetentionCohort[]
  average: readonly (number | null)[]
}

/** Cohorts as a heat map, for a picture. */
export function heatDrawing({ unit, cohorts, average }: Cohorts, width: number): Drawn {
  const height = (cohorts.length + 2) * ROW
  const cell = Math.min(140, (width - NAME - SIZE) / Math.max(1, average.length))
  const x = (index: number) => NAME + SIZE + 12 + index * cell
  const rows = [
    { name: words.average, size: cohorts.reduce((sum, { size }) => sum + size, 0), shares: average },
    ...cohorts.map(({ from, size, returned }) => ({
      name: mediumInterval(unit, from),
      size,
      shares: returned.map((count) => (count === null || size === 0 ? null : count / size)),
    })),
  ]
  const drawing = (
    <svg width={width} height={height} aria-hidden>
      <text className={classes.text} fontSize={13} fontWeight={600} x={0} y={20}>
        {words.cohort}
      </text>
      <text className={classes.text} fontSize={13} fontWeight={600} x={NAME + SIZE} y={20} textAnchor="end">
        {words.size}
      </text>
      {average.map((_, index) => (
        <text
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a column is about
          key={index}
          className={classes.text}
          fontSize={cell < 52 ? 10 : 13}
          fontWeight={600}
          x={x(index) + cell / 2}
          y={20}
          textAnchor="middle"
        >
          {cell < 52 ? index + 1 : words.after(unit, index + 1)}
        </text>
      ))}
      {rows.map(({ name, size, shares }, place) => {
        const y = (place + 1) * ROW
        return (
          <g key={name}>
            <text className={classes.text} fontSize={13} fontWeight={place === 0 ? 600 : 400} x={0} y={y + 20}>
              {name}
            </text>
            <text className={classes.text} fontSize={13} x={NAME + SIZE} y={y + 20} textAnchor="end">
              {formatNumber(size)}
            </text>
            {shares.map((share, index) =>
              share === null ? null : (
                // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is about
                <g key={index}>
                  <rect
                    style={{ fill: colorOf(0) }}
                    fillOpacity={Math.min(share, 1) * 0.55}
                    x={x(index)}
                    y={y + 1}
                    width={cell - 2}
                    height={ROW - 2}
                  />
                  <text
                    className={classes.text}
                    fontSize={cell < 52 ? 10 : 13}
                    x={x(index) + cell / 2 - 1}
                    y={y + 20}
                    textAnchor="middle"
                  >
                    {formatShare(share)}
                  </text>
                </g>
              ),
            )}
          </g>
        )
      })}
    </svg>
  )
  return { drawing, height }
}
