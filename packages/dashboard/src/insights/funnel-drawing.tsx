import { formatNumber } from '../ui/format.ts'
import { formatShare } from './axis.ts'
import { colorOf } from './colors.ts'
import { type FunnelRow, wentOn } from './funnel-rows.ts'
import classes from './picture.module.css'
import type { Drawn } from './picture.tsx'
import { text } from './text.ts'

const words = text.funnel
const ROW = 88
const BAR = { top: 12, height: 28 }

/** The steps of a funnel as bars, for a picture. */
export function funnelDrawing(rows: readonly FunnelRow[], width: number): Drawn {
  const height = rows.length * ROW
  const isCompared = rows.some(({ before }) => before !== undefined)
  const legend = [
    { name: words.reached, color: colorOf(0) },
    ...(isCompared ? [{ name: text.periodBefore, color: 'var(--mantine-color-dimmed)' }] : []),
  ]
  const drawing = (
    <svg width={width} height={height} aria-hidden>
      {rows.map(({ name, step, before }, index) => {
        const y = index * ROW + 16
        const facts = [
          wentOn(step, index),
          before ? words.before(formatNumber(before.count), formatShare(before.from_first)) : '',
        ]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a step is about
          <g key={index}>
            <text className={classes.text} fontSize={15} fontWeight={600} x={0} y={y}>
              {`${words.position(index + 1)} ${name}`.slice(0, 100)}
            </text>
            <text className={classes.text} fontSize={15} fontWeight={600} x={width} y={y} textAnchor="end">
              {`${formatNumber(step.count)} ${words.share(formatShare(step.from_first))}`}
            </text>
            <rect className={classes.track} y={y + BAR.top} width={width} height={BAR.height} rx={6} />
            <rect
              style={{ fill: colorOf(0) }}
              y={y + BAR.top}
              width={(step.from_first ?? 0) * width}
              height={BAR.height}
              rx={6}
            />
            {before ? (
              <rect
                className={classes.dimmed}
                y={y + BAR.top + BAR.height + 3}
                width={(before.from_first ?? 0) * width}
                height={5}
                rx={2}
              />
            ) : null}
            <text className={classes.dimmed} fontSize={12} x={0} y={y + BAR.top + BAR.height + 22}>
              {facts.filter(Boolean).join(' · ')}
            </text>
          </g>
        )
      })}
    </svg>
  )
  return { drawing, height, legend }
}
