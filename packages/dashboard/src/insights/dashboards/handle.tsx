import { ActionIcon } from '@mantine/core'
import { type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject, useRef } from 'react'
import { COLUMNS } from './grid-layout.ts'

type Move = (right: number, down: number) => void

interface HandleProps {
  label: string
  icon: ReactNode
  className: string | undefined
  grid: RefObject<HTMLUListElement | null>
  /** An arrow key. */
  onStep: Move
  /** A drag begins. @returns what follows it: how far the pointer is from its beginning, in columns and rows. */
  onDrag: () => Move
}

const ARROWS: Record<string, [right: number, down: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** A button that is dragged over the grid, or moved with the arrow keys. Escape ends a drag where it began. */
export function Handle({ label, icon, className, grid, onStep, onDrag }: HandleProps) {
  const drag = useRef<{ x: number; y: number; at: string; move: Move } | null>(null)
  const begin = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = { x: event.pageX, y: event.pageY, at: '0 0', move: onDrag() }
  }
  const follow = (event: PointerEvent) => {
    const { current } = drag
    if (!current || !grid.current) return
    const { column, row } = stepsOf(grid.current)
    const [right, down] = [Math.round((event.pageX - current.x) / column), Math.round((event.pageY - current.y) / row)]
    const at = `${right} ${down}`
    if (at === current.at) return
    current.at = at
    current.move(right, down)
  }
  const end = () => {
    drag.current = null
  }
  const cancel = () => {
    drag.current?.move(0, 0)
    end()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') cancel()
    const step = ARROWS[event.key]
    if (!step) return
    event.preventDefault()
    onStep(...step)
  }
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      className={className}
      aria-label={label}
      aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown"
      onPointerDown={begin}
      onPointerMove={follow}
      onPointerUp={end}
      onPointerCancel={cancel}
      onKeyDown={press}
    >
      {icon}
    </ActionIcon>
  )
}

/** From one column to the next, and from one row to the next, in pixels. */
function stepsOf(grid: HTMLElement): { column: number; row: number } {
  const style = getComputedStyle(grid)
  const gap = Number.parseFloat(style.columnGap)
  return { column: (grid.clientWidth + gap) / COLUMNS, row: Number.parseFloat(style.getPropertyValue('--row')) + gap }
}
