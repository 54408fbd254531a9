import type { KeyboardEvent } from 'react'

/** Up and down go to the same place in the row before or after, so that a long list is read without the tab key. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const { target } = event
  // Within a field the arrows are the field's.
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
