import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import classes from './data-table.module.css'
import { WIDTH_MAX, WIDTH_MIN } from './data-table-column.ts'
import { text } from './text.ts'

const STEP = 16

interface ColumnResizerProps {
  header: string
  width: number
  /** @param width undefined: the default. */
  onWidth: (width: number | undefined) => void
}

/** The right edge of a column's header: dragged, or moved with the arrow keys; a double click resets it. */
export function ColumnResizer({ header, width, onWidth }: ColumnResizerProps) {
  const start = useRef({ x: 0, width })
  const within = (wanted: number) => Math.round(Math.min(Math.max(wanted, WIDTH_MIN), WIDTH_MAX))
  const begin = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    start.current = { x: event.clientX, width }
  }
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    onWidth(within(start.current.width + event.clientX - start.current.x))
  }
  const press = (event: KeyboardEvent) => {
    const widths: Record<string, number | undefined> = {
      ArrowLeft: within(width - STEP),
      ArrowRight: within(width + STEP),
      Home: WIDTH_MIN,
      End: WIDTH_MAX,
      Escape: undefined,
    }
    if (!(event.key in widths)) return
    event.preventDefault()
    event.stopPropagation()
    onWidth(widths[event.key])
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={text.table.widthOf(header)}
      aria-valuenow={width}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={WIDTH_MAX}
      tabIndex={0}
      className={classes.resizer}
      onPointerDown={begin}
      onPointerMove={drag}
      onDoubleClick={() => onWidth(undefined)}
      onKeyDown={press}
    />
  )
}
