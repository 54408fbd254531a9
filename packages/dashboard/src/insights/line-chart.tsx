import { useElementSize } from '@mantine/hooks'
import { type PointerEvent, useState } from 'react'
import { labelEvery, type Point } from '../ui/chart-scale.ts'
import { axisOf, formatFigure, formatShare, formatTick } from './axis.ts'
import { colorOf } from './colors.ts'
import { longInterval, shortInterval, stateOfInterval } from './interval-keys.ts'
import classes from './line-chart.module.css'
import type { Interval } from './question.ts'
import { text } from './text.ts'

const words = text.trend
const LEFT = 52
const RIGHT = 12
const TOP = 10
const BOTTOM = 26
const HEIGHT = 320
/** What a tooltip and a screen reader list. */
const TOLD_MAX = 10

export interface Line {
  key: string
  name: string
  /** The place of its color; a line and the one that it is compared with have the same. */
  color: number
  points: readonly (number | null)[]
  /** Of the compared range. */
  isBefore?: boolean
}

interface LineChartProps {
  label: string
  unit: Interval
  /** The keys of the intervals. */
  keys: readonly string[]
  lines: readonly Line[]
  /** A level across the chart. */
  limit?: number | undefined
  /** The intervals that are marked, and what that means. */
  marks?: { at: ReadonlySet<number>; label: string }
  /** Whether the figures are parts of 1. */
  isShare?: boolean
}

/**
 * Figures over time as lines. The pointer, a finger or the arrow keys choose an interval, whose figures are then told: the
 * whole chart is a slider, which every screen reader knows.
 */
export function LineChart({ label, unit, keys: all, lines, limit, marks, isShare = false }: LineChartProps) {
  const { ref, width } = useElementSize()
  const [chosen, setChosen] = useState<number | null>(null)
  const keys = all.filter((key) => stateOfInterval(unit, key) !== 'future')
  const last = keys.length - 1
  const at = chosen === null ? null : Math.min(chosen, last)
  const hover = (event: PointerEvent<HTMLInputElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect()
    setChosen(indexAt(event.clientX - left, width, keys.length))
  }
  return (
    <div ref={ref} className={classes.canvas} style={{ height: HEIGHT }}>
      {width > 0 ? <Drawing {...{ unit, keys, lines, limit, marks, isShare, width }} chosen={at} /> : null}
      <input
        type="range"
        className={classes.slider}
        min={0}
        max={Math.max(last, 0)}
        value={at ?? Math.max(last, 0)}
        aria-label={words.chartLabel(label)}
        aria-valuetext={toldAt({ unit, keys, lines, marks, isShare }, at ?? last)}
        onChange={(event) => setChosen(Number(event.currentTarget.value))}
        onFocus={() => setChosen((before) => before ?? last)}
        onBlur={() => setChosen(null)}
        onPointerMove={hover}
        onPointerLeave={(event) => setChosen(document.activeElement === event.currentTarget ? at : null)}
      />
      {at === null || keys[at] === undefined ? null : (
        <div
          className={classes.tooltip}
          data-side={placeOf(at, width, keys.length) > width / 2 ? 'left' : 'right'}
          style={{ left: placeOf(at, width, keys.length) }}
          aria-hidden
        >
          <strong>{intervalWords(unit, keys[at])}</strong>
          {largestAt(lines, at)
            .slice(0, TOLD_MAX)
            .map((line) => (
              <div key={line.key}>
                <span
                  className={classes.key}
                  data-before={line.isBefore}
                  style={{ borderColor: colorOf(line.color) }}
                />
                <span className={classes.name}>{nameOf(line)}</span>
                <b>{inWords(line.points[at], isShare)}</b>
              </div>
            ))}
          {lines.length > TOLD_MAX ? <div>{words.more(lines.length - TOLD_MAX)}</div> : null}
          {marks?.at.has(at) ? <div>{marks.label}</div> : null}
        </div>
      )}
    </div>
  )
}

interface DrawingProps extends Omit<LineChartProps, 'label'> {
  width: number
  chosen: number | null
}

function Drawing({ unit, keys, lines, limit, marks, isShare, width, chosen }: DrawingProps) {
  const figures = lines.flatMap(({ points }) => points.slice(0, keys.length)).filter((point) => point !== null)
  const ticks = axisOf(limit === undefined ? figures : [...figures, limit])
  const [bottom = 0, top = 1] = [ticks[0], ticks.at(-1)]
  const ground = HEIGHT - BOTTOM
  const x = (index: number) => placeOf(index, width, keys.length)
  const y = (value: number) => ground - ((value - bottom) / (top - bottom)) * (ground - TOP)
  const every = labelEvery(keys.length, width - LEFT)
  return (
    <svg width={width} height={HEIGHT} aria-hidden>
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
            {isShare ? formatShare(tick) : formatTick(tick)}
          </text>
        </g>
      ))}
      {keys.map((key, index) =>
        index % every === 0 ? (
          <text
            key={key}
            className={classes.label}
            x={x(index)}
            y={HEIGHT - 6}
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
        <Curve key={line.key} line={line} unit={unit} keys={keys} x={x} y={y} chosen={chosen} />
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

interface CurveProps extends Pick<DrawingProps, 'unit' | 'keys' | 'chosen'> {
  line: Line
  x: (index: number) => number
  y: (value: number) => number
}

/** Part of an interval would look like a fall, so the line to it is dotted. Where nothing is known, there is a gap. */
function Curve({ line: { points, color, isBefore }, unit, keys, x, y, chosen }: CurveProps) {
  const lastKey = keys.at(-1)
  const isRunning = !isBefore && lastKey !== undefined && stateOfInterval(unit, lastKey) === 'running'
  const places = keys.map((_, index): Point | null => {
    const value = points[index]
    return value === null || value === undefined ? null : { x: x(index), y: y(value) }
  })
  const complete = isRunning ? places.slice(0, -1) : places
  const [nextToLast, last] = [places.at(-2), places.at(-1)]
  const marked = chosen === null ? null : places[chosen]
  return (
    <g style={{ color: colorOf(color) }}>
      {piecesOf(complete).map((piece) =>
        piece.length === 1 ? (
          <circle key={piece[0]?.x} r={2.5} cx={piece[0]?.x} cy={piece[0]?.y} />
        ) : (
          <path key={piece[0]?.x} className={classes.line} data-before={isBefore} d={pathOf(piece)} />
        ),
      )}
      {isRunning && last ? (
        <>
          {nextToLast ? <path className={classes.line} data-running d={pathOf([nextToLast, last])} /> : null}
          <circle r={2.5} cx={last.x} cy={last.y} />
        </>
      ) : null}
      {marked ? <circle r={4} cx={marked.x} cy={marked.y} /> : null}
    </g>
  )
}

/** Straight from point to point: a curve would show figures between them, where there are none. */
function pathOf(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`).join('')
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

function placeOf(index: number, width: number, count: number): number {
  return count > 1 ? LEFT + (index * (width - LEFT - RIGHT)) / (count - 1) : LEFT + (width - LEFT - RIGHT) / 2
}

function indexAt(left: number, width: number, count: number): number {
  const index = Math.round(((left - LEFT) / Math.max(1, width - LEFT - RIGHT)) * (count - 1))
  return Math.min(Math.max(index, 0), count - 1)
}

/** The first and the last label stay within the chart; a single one is in the middle. */
function anchorOf(index: number, count: number): 'start' | 'middle' | 'end' {
  if (count === 1) return 'middle'
  if (index === 0) return 'start'
  return index === count - 1 ? 'end' : 'middle'
}

function nameOf({ name, isBefore }: Line): string {
  return isBefore ? words.before(name) : name
}

function largestAt(lines: readonly Line[], at: number): Line[] {
  const figure = ({ points }: Line) => points[at] ?? Number.NEGATIVE_INFINITY
  return lines.toSorted((a, b) => figure(b) - figure(a))
}

function intervalWords(unit: Interval, key: string): string {
  const interval = longInterval(unit, key)
  return stateOfInterval(unit, key) === 'running' ? words.soFar(interval) : interval
}

/** The figures of an interval as a sentence. */
function toldAt({ unit, keys, lines, marks, isShare = false }: Omit<LineChartProps, 'label'>, at: number): string {
  const key = keys[at]
  if (key === undefined) return ''
  const told = largestAt(lines, at)
    .slice(0, TOLD_MAX)
    .map((line) => words.figure(nameOf(line), inWords(line.points[at], isShare)))
  const more = lines.length > TOLD_MAX ? [words.more(lines.length - TOLD_MAX)] : []
  const marked = marks?.at.has(at) ? [marks.label] : []
  return words.at(intervalWords(unit, key), [...told, ...more, ...marked].join('; '))
}

function inWords(figure: number | null | undefined, isShare: boolean): string {
  return isShare ? formatShare(figure) : formatFigure(figure)
}
