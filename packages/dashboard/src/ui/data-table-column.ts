import type { ReactNode } from 'react'
import type { PropertyValue } from './property-value.ts'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** The service's name for sorting; without it, the column cannot be sorted. */
  sortBy?: string
  align?: 'left' | 'right'
  /** In pixels; only used in tables with a layout. */
  width?: number
  /** The minimum window width at which it is shown. */
  visibleFrom?: 'xs' | 'sm' | 'md' | 'lg' | 'xl'
  /** For values that can be edited in the table. */
  edit?: CellEdit<Row>
}

/** How a value is edited in its cell. */
export interface CellEdit<Row> {
  valueIn: (row: Row) => PropertyValue | undefined
  /** The only possible values. */
  choices?: readonly { value: string; label: string }[]
  /** Whether the value can be removed. */
  isRequired?: boolean
  /**
   * Called when editing starts. @returns how to save the value; null removes it. The promise rejects with a message
   * for the person.
   */
  begin: (row: Row) => (value: PropertyValue | null) => Promise<unknown>
}

/** Widths and order of columns, chosen by the person. */
export interface ColumnLayout {
  widths: Readonly<Record<string, number>>
  /** @param width undefined: the default. */
  onWidth: (id: string, width: number | undefined) => void
  /** Moves a column to the place of another. */
  onMove: (id: string, to: string) => void
}

export const WIDTH_MIN = 80
export const WIDTH_MAX = 800
const WIDTH_USUAL = 160

export function widthOf(
  { id, width = WIDTH_USUAL }: Pick<Column<never>, 'id' | 'width'>,
  layout: ColumnLayout,
): number {
  return Math.min(Math.max(layout.widths[id] ?? width, WIDTH_MIN), WIDTH_MAX)
}

/** The ids with one of them at the place of another. */
export function moved(ids: readonly string[], id: string, to: string): string[] {
  const place = ids.indexOf(to)
  if (place < 0 || !ids.includes(id)) return [...ids]
  const others = ids.filter((other) => other !== id)
  return [...others.slice(0, place), id, ...others.slice(place)]
}
