import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type MouseEvent, type PointerEvent, useState } from 'react'
import { formatFigure } from './axis.ts'
import { colorOf } from './colors.ts'
import { longInterval, stateOfInterval } from './interval-keys.ts'
import classes from './line-chart.module.css'
import { HEIGHT, indexAt, type Line, LineDrawing, type Lines, scaleOf } from './line-drawing.tsx'
import { text } from './text.ts'

export type { Line } from './line-drawing.tsx'

const words = text.trend
/** What a tooltip and a screen reader list. */
const TOLD_MAX = 10

interface LineChartProps extends Lines {
  label: string
}

/**
 * Figures over time as lines. The pointer, a finger or the arrow keys choose an interval, whose figures are then told: the
 * whole chart is a slider, which every screen reader knows. A click, a second tap or Enter opens the people behind a figure:
 * of the line at the pointer, or of the one that the arrow keys up and down have chosen.
 */
export function LineChart({ label, ...drawn }: LineChartProps) {
  const { unit, keys: all, lines, marks, format = formatFigure, height = HEIGHT, stateOf = stateOfInterval } = drawn
  const { ref, width } = useElementSize()
  const [chosen, setChosen] = useState<number | null>(null)
  const [markedKey, setMarked] = useState<string | null>(null)
  const [touched, setTouched] = useState<number | null>(null)
  const keys = all.filter((key) => stateOf(unit, key) !== 'future')
  const last = keys.length - 1
  const at = chosen === null ? null : Math.min(chosen, last)
  const scale = scaleOf({ ...drawn, keys }, width)
  const openable = at === null ? [] : largestAt(lines, at).filter((line) => canOpen(line, at))
  const marked = openable.find(({ key }) => key === markedKey) ?? openable[0]
  const intervalOf = (key: string) => {
    const interval = longInterval(unit, key)
    return stateOf(unit, key) === 'running' ? words.soFar(interval) : interval
  }

  const point = (event: MouseEvent<HTMLInputElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect()
    const index = indexAt(event.clientX - left, scale, keys.length)
    const distance = ({ points }: Line) => Math.abs(scale.y(points[index] ?? 0) - (event.clientY - top))
    const nearest = lines.filter((line) => canOpen(line, index)).toSorted((a, b) => distance(a) - distance(b))[0]
    setChosen(index)
    setMarked(nearest?.key ?? null)
    return { index, nearest }
  }
  const hover = (event: PointerEvent<HTMLInputElement>) => {
    // A finger chooses with its tap, which the click tells from the one that opens.
    if (event.pointerType !== 'touch') point(event)
  }
  const click = (event: MouseEvent<HTMLInputElement>) => {
    const isTouch = 'pointerType' in event.nativeEvent && event.nativeEvent.pointerType === 'touch'
    const { index, nearest } = point(event)
    if (isTouch && index !== touched) setTouched(index)
    else open(nearest, index)
  }
  const open = (line: Line | undefined, index: number) => {
    const key = keys[index]
    if (key !== undefined) line?.onOpen?.(key)
  }
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') open(marked, at ?? last)
    if ((event.key !== 'ArrowUp' && event.key !== 'ArrowDown') || openable.length === 0) return
    event.preventDefault()
    const place = openable.findIndex(({ key }) => key === marked?.key) + (event.key === 'ArrowUp' ? -1 : 1)
    setMarked(openable[Math.min(Math.max(place, 0), openable.length - 1)]?.key ?? null)
  }
  const isOpenable = lines.some(({ onOpen }) => onOpen !== undefined)
  const key = at === null ? undefined : keys[at]
  return (
    <div ref={ref} className={classes.canvas} style={{ height }}>
      {width > 0 ? <LineDrawing {...drawn} keys={keys} scale={scale} chosen={at} marked={marked?.key} /> : null}
      <input
        type="range"
        className={classes.slider}
        data-opens={marked !== undefined}
        min={0}
        max={Math.max(last, 0)}
        value={at ?? Math.max(last, 0)}
        aria-label={isOpenable ? words.chartThatOpens(label) : words.chartLabel(label)}
        aria-valuetext={toldAt(keys[at ?? last], intervalOf, drawn, at ?? last, marked)}
        onChange={(event) => setChosen(Number(event.currentTarget.value))}
        onFocus={() => setChosen((before) => before ?? last)}
        onBlur={() => {
          setChosen(null)
          setTouched(null)
        }}
        onKeyDown={press}
        onClick={click}
        onPointerMove={hover}
        onPointerLeave={(event) => setChosen(document.activeElement === event.currentTarget ? at : null)}
      />
      {at === null || key === undefined ? null : (
        <div
          className={classes.tooltip}
          data-side={scale.x(at) > width / 2 ? 'left' : 'right'}
          style={{ left: scale.x(at) }}
          aria-hidden
        >
          <strong>{intervalOf(key)}</strong>
          {largestAt(lines, at)
            .slice(0, TOLD_MAX)
            .map((line) => (
              <div key={line.key} data-marked={line.key === marked?.key && openable.length > 1}>
                <LineKey line={line} />
                <span className={classes.name}>{nameOf(line)}</span>
                <b>{format(line.points[at])}</b>
              </div>
            ))}
          {lines.length > TOLD_MAX ? <div>{words.more(lines.length - TOLD_MAX)}</div> : null}
          {marks?.at.has(at) ? <div>{marks.label}</div> : null}
          {marked ? <div className={classes.hint}>{words.openHint}</div> : null}
        </div>
      )}
    </div>
  )
}

/** The line of a legend: its color and its dashes. */
export function LineKey({ line: { color, isBefore } }: { line: Line }) {
  return <span className={classes.key} data-before={isBefore} style={{ borderColor: colorOf(color) }} />
}

/** The lines in the order of a legend: the compared ones, which are drawn below the others, come last. */
export function legendOf(lines: readonly Line[]): Line[] {
  return [...lines.filter(({ isBefore }) => !isBefore), ...lines.filter(({ isBefore }) => isBefore)]
}

export function nameOf({ name, isBefore }: Line): string {
  return isBefore ? words.before(name) : name
}

/** Nobody is behind nothing. */
function canOpen({ onOpen, points }: Line, at: number): boolean {
  return onOpen !== undefined && Boolean(points[at])
}

function largestAt(lines: readonly Line[], at: number): Line[] {
  const figure = ({ points }: Line) => points[at] ?? Number.NEGATIVE_INFINITY
  return lines.toSorted((a, b) => figure(b) - figure(a))
}

/** The figures of an interval as a sentence, that of the line which can be opened first. */
function toldAt(
  key: string | undefined,
  intervalOf: (key: string) => string,
  { lines, marks, format = formatFigure }: Lines,
  at: number,
  marked: Line | undefined,
): string {
  if (key === undefined) return ''
  const largest = largestAt(lines, at)
  const told = (marked ? [marked, ...largest.filter((line) => line !== marked)] : largest)
    .slice(0, TOLD_MAX)
    .map((line) => words.figure(nameOf(line), format(line.points[at])))
  const more = lines.length > TOLD_MAX ? [words.more(lines.length - TOLD_MAX)] : []
  const meaning = marks?.at.has(at) ? [marks.label] : []
  return words.at(intervalOf(key), [...told, ...more, ...meaning].join('; '))
}
