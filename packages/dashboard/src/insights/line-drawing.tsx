import { axisOf, formatTick, labelEvery } from './axis.ts'
import { colorOf } from './colors.ts'
import { shortInterval, stateOfInterval } from './interval-keys.ts'
import classes from './line-chart.module.css'
import type { Interval } from './question.ts'

const LEFT = 52
const RIGHT = 12
const TOP = 10
const BOTTOM = 26

interface Point {
  x: number
  y: number
}

export interface Line {
  key: string
  name: string
  /** The place of its color; a line and the one that it is compared with have the same. */
  color: number
  points: readonly (number | null)[]
  /** Of the compared range. */
  isBefore?: boolean
  /** A level, such as the members of a segment: that of an interval that is still running is no part of a figure. */
  isLevel?: boolean
  /** Shows the people behind the figure of an interval; absent where they cannot be listed. */
  onOpen?: (key: string) => void
}

/** Whether an interval is over, is running, or has not begun. */
export type StateOf = (unit: Interval, key: string) => ReturnType<typeof stateOfInterval>

export interface Lines {
  unit: Interval
  /** The keys of the intervals. */
  keys: readonly string[]
  lines: readonly Line[]
  height?: number
  /** A level across the chart. */
  limit?: number | undefined
  /** The intervals that are marked, and what that means. */
  marks?: { at: ReadonlySet<number>; label: string }
  /** How figures are written, and the ticks of the axis; as plain numbers by default. */
  format?: ((figure: number | null | undefined) => string) | undefined
  /** For keys that are not in the time zone of the workspace. */
  stateOf?: StateOf
}

export const HEIGHT = 320

/** Where figures are drawn. */
export interface LineScale {
  width: number
  height: number
  ticks: readonly number[]
  ground: number
  x: (index: number) => number
  y: (value: number) => number
}

export function scaleOf({ keys, lines, limit, height = HEIGHT }: Lines, width: number): LineScale {
  const figures = lines.flatMap(({ points }) => points.slice(0, keys.length)).filter((point) => point !== null)
  const ticks = axisOf(limit === undefined ? figures : [...figures, limit])
  const [bottom = 0, top = 1] = [ticks[0], ticks.at(-1)]
  const ground = height - BOTTOM
  return {
    width,
    height,
    ticks,
    ground,
    x: (index) =>
      keys.length > 1 ? LEFT + (index * (width - LEFT - RIGHT)) / (keys.length - 1) : LEFT + (width - LEFT - RIGHT) / 2,
    y: (value) => ground - ((value - bottom) / (top - bottom)) * (ground - TOP),
  }
}

/** The interval at a place. */
export function indexAt(left: number, { width }: LineScale, count: number): number {
  const index = Math.round(((left - LEFT) / Math.max(1, width - LEFT - RIGHT)) * (count - 1))
  return Math.min(Math.max(index, 0), count - 1)
}

interface LineDrawingProps extends Lines {
  scale: LineScale
  /** The interval that is told. */
  chosen?: number | null
  /** The line whose people can be shown there. */
  marked?: string | undefined
}

/** Figures over time as lines. */
export function LineDrawing({ scale, chosen = null, marked, ...drawn }: LineDrawingProps) {
  const { unit, keys, lines, limit, marks, format = formatTick } = drawn
  const { width, height, ticks, ground, x, y } = scale
  const every = labelEvery(keys.length, width - LEFT)
  const isAlone = lines.filter(({ isBefore = false }) => !isBefore).length === 1
  return (
    <svg width={width} height={height} aria-hidden>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={classes.grid}
            data-zero={tick === 0}
            x1={LEFT}
            x2={width - RIGHT}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text className={classes.label} x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {keys.map((key, index) =>
        index % every === 0 ? (
          <text
            key={key}
            className={classes.label}
            x={x(index)}
            y={height - 6}
            textAnchor={anchorOf(index, keys.length)}
          >
            {shortInterval(unit, key)}
          </text>
        ) : null,
      )}
      {limit === undefined ? null : (
        <line className={classes.limit} x1={LEFT} x2={width - RIGHT} y1={y(limit)} y2={y(limit)} />
      )}
      {chosen === null ? null : <line className={classes.cursor} x1={x(chosen)} x2={x(chosen)} y1={TOP} y2={ground} />}
      {lines.map((line) => (
        <Curve
          key={line.key}
          line={line}
          drawn={drawn}
          scale={scale}
          hasArea={isAlone && !line.isBefore}
          chosen={chosen}
          isMarked={line.key === marked}
        />
      ))}
      {[...(marks?.at ?? [])].map((index) => {
        const figure = lines[0]?.points[index]
        return typeof figure === 'number' ? (
          <circle key={index} className={classes.mark} r={5} cx={x(index)} cy={y(figure)} />
        ) : null
      })}
    </svg>
  )
}

interface CurveProps {
  line: Line
  drawn: Lines
  scale: LineScale
  /** Below a single line; that of several would hide one another. */
  hasArea: boolean
  chosen: number | null
  isMarked: boolean
}

/** Part of an interval would look like a fall, so the line to it is dotted. Where nothing is known, there is a gap. */
function Curve({ line, drawn, scale: { x, y }, hasArea, chosen, isMarked }: CurveProps) {
  const { points, color, isBefore = false, isLevel = false } = line
  const { unit, keys, stateOf = stateOfInterval } = drawn
  const lastKey = keys.at(-1)
  const isRunning = !isBefore && !isLevel && lastKey !== undefined && stateOf(unit, lastKey) === 'running'
  const places = keys.map((_, index): Point | null => {
    const value = points[index]
    return value === null || value === undefined ? null : { x: x(index), y: y(value) }
  })
  const complete = isRunning ? places.slice(0, -1) : places
  const [nextToLast, last] = [places.at(-2), places.at(-1)]
  const told = chosen === null ? null : places[chosen]
  return (
    <g style={{ color: colorOf(color) }}>
      {piecesOf(complete).map((piece) =>
        piece.length === 1 ? (
          <circle key={piece[0]?.x} r={2.5} cx={piece[0]?.x} cy={piece[0]?.y} />
        ) : (
          <g key={piece[0]?.x}>
            {hasArea ? <path className={classes.area} d={areaOf(piece, y(0))} /> : null}
            <path className={classes.line} data-before={isBefore} d={pathOf(piece)} />
          </g>
        ),
      )}
      {isRunning && last ? (
        <>
          {nextToLast ? <path className={classes.line} data-running d={pathOf([nextToLast, last])} /> : null}
          <circle r={2.5} cx={last.x} cy={last.y} />
        </>
      ) : null}
      {told ? <circle r={isMarked ? 6 : 4} cx={told.x} cy={told.y} /> : null}
    </g>
  )
}

/** Straight from point to point: a curve would show figures between them, where there are none. */
function pathOf(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`).join('')
}

/** The area between a line and the zero. */
function areaOf(points: readonly Point[], zero: number): string {
  return `${pathOf(points)}L${points.at(-1)?.x.toFixed(1)},${zero.toFixed(1)}L${points[0]?.x.toFixed(1)},${zero.toFixed(1)}Z`
}

/** The points between gaps. */
function piecesOf(places: readonly (Point | null)[]): Point[][] {
  const pieces: Point[][] = []
  let isOpen = false
  for (const place of places) {
    if (place === null) isOpen = false
    else if (isOpen) pieces.at(-1)?.push(place)
    else {
      pieces.push([place])
      isOpen = true
    }
  }
  return pieces
}

/** The first and the last label stay within the chart; a single one is in the middle. */
function anchorOf(index: number, count: number): 'start' | 'middle' | 'end' {
  if (count === 1) return 'middle'
  if (index === 0) return 'start'
  return index === count - 1 ? 'end' : 'middle'
}
