import type { KeyboardEvent } from 'react'

/** The up and down keys move to the same position in the previous or next row, without the tab key. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const { target } = event
  // In a field, the arrows belong to the field.
  if (!(target instanceof HTMLElement) || target.matches('input, textarea, select')) return
  const row = target.closest('tr')
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling
  const position = target.closest('td')?.cellIndex ?? 0
  const cell = next instanceof HTMLTableRowElement ? next.cells[position] : undefined
  const focusable = cell?.querySelector<HTMLElement>('a, button') ?? next?.querySelector<HTMLElement>('a, button')
  if (!focusable) return
  event.preventDefault()
  focusable.focus()
}
