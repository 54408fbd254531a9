import { type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useRef } from 'react'
import { text } from './text.ts'

/** What the help lists of a table whose rows open. The table handles the keys itself. */
const OPENING = [
  { keys: 'j', label: text.table.shortcuts.next },
  { keys: 'k', label: text.table.shortcuts.previous },
  { keys: 'Enter', label: text.table.shortcuts.open },
]
/** What it lists besides if rows can be selected. */
const SELECTING = [
  { keys: 'x', label: text.table.shortcuts.select },
  { keys: 'Shift+x', label: text.table.shortcuts.extend },
]

/** The shortcuts of a table whose rows open, for the help. */
export function shortcutsOf(isSelectable: boolean) {
  return isSelectable ? [...OPENING, ...SELECTING] : OPENING
}

/** Parts of a row that have a use of their own, so that a click there does not open the row. */
const OWN_USE = 'a, button, input, label, select, textarea, [role="separator"]'
const FOCUSABLE = 'a, button, input'

/**
 * The arrow keys move between rows, at the same position, and between the links and buttons of a row, without the tab
 * key.
 */
export function moveBetweenCells(event: KeyboardEvent<HTMLElement>): void {
  const { target, key } = event
  if (!isWithin(event) || !(target instanceof HTMLElement) || isTyping(target)) return
  const row = target.closest('tr')
  if (!row) return
  const next =
    key === 'ArrowDown' || key === 'ArrowUp'
      ? inRow(key === 'ArrowDown' ? row.nextElementSibling : row.previousElementSibling, target)
      : key === 'ArrowRight' || key === 'ArrowLeft'
        ? besides(row, target, key === 'ArrowRight' ? 1 : -1)
        : undefined
  if (!next) return
  event.preventDefault()
  next.focus()
}

function inRow(row: Element | null, from: HTMLElement): HTMLElement | undefined {
  if (!(row instanceof HTMLTableRowElement)) return undefined
  if (from instanceof HTMLTableRowElement) return row
  const cell = row.cells[from.closest('td')?.cellIndex ?? 0]
  return cell?.querySelector<HTMLElement>(FOCUSABLE) ?? row.querySelector<HTMLElement>(FOCUSABLE) ?? undefined
}

function besides(row: HTMLElement, from: HTMLElement, step: 1 | -1): HTMLElement | undefined {
  const all = [row, ...row.querySelectorAll<HTMLElement>(FOCUSABLE)]
  return all[all.indexOf(from) + step]
}

/** Opens the row of a click: its first link, in another tab with the usual keys. Text can still be selected. */
export function openClickedRow(event: MouseEvent<HTMLElement>): void {
  const { target, button } = event
  if (!isWithin(event) || !(target instanceof Element) || target.closest(OWN_USE)) return
  if (button > 1 || getSelection()?.toString()) return
  openRow(target.closest('tr'), event.ctrlKey || event.metaKey || button === 1)
}

function openRow(row: Element | null | undefined, isInTab: boolean): void {
  const link = row?.querySelector<HTMLAnchorElement>('a[href]')
  if (!link) return
  if (isInTab) open(link.href, '_blank', 'noopener')
  else link.click()
}

interface TableKeys {
  body: RefObject<HTMLTableSectionElement | null>
  /** Whether rows open; otherwise, there are no shortcuts. */
  opensRows: boolean
  /** Selects the row at a position, or the rows up to it. */
  onSelect: ((position: number, isRange: boolean) => void) | undefined
}

/** The shortcuts of a table: j and k move between its rows, Enter opens one, x selects it. */
export function useTableKeys({ body, opensRows, onSelect }: TableKeys): void {
  const latest = useRef(onSelect)
  latest.current = onSelect
  useEffect(() => {
    if (!opensRows) return
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector('[role="dialog"], [role="menu"]')) return
      const rows = [...(body.current?.rows ?? [])]
      const position = rows.findIndex((row) => row.contains(document.activeElement))
      const move = (to: number) => {
        event.preventDefault()
        rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus()
      }
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      if (key === 'j' && !event.shiftKey) move(position + 1)
      else if (key === 'k' && !event.shiftKey) move(position < 0 ? 0 : position - 1)
      else if (key === 'Enter' && position >= 0 && rows[position] === document.activeElement) {
        openRow(rows[position], false)
      } else if (key === 'x' && position >= 0) latest.current?.(position, event.shiftKey)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [body, opensRows])
}

/** Whether an event happened in the table itself: React's events also come from dialogs that a cell opened. */
function isWithin({ target, currentTarget }: { target: EventTarget; currentTarget: Element }): boolean {
  return target instanceof Node && currentTarget.contains(target)
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type)
  return target.isContentEditable || target.matches('textarea, select')
}
