import { useCallback, useRef, useState } from 'react'

/** The selected rows of a table. */
export interface Selection {
  ids: ReadonlySet<string>
  /** Selects a row or removes it from the selection. @param isRange selects all rows since the last one as well. */
  toggle: (position: number, isRange: boolean) => void
  /** Selects all rows of the page, or none. */
  toggleAll: () => void
  clear: () => void
}

/**
 * The selection of a page of rows. It is empty again when another page is shown.
 * @param ids the rows of the page, in their order.
 */
export function useSelection(ids: readonly string[]): Selection {
  const page = ids.join()
  const [state, setState] = useState({ page, selected: new Set<string>() })
  const last = useRef<number | null>(null)
  const latest = useRef(ids)
  latest.current = ids
  const selected = state.page === page ? state.selected : NOTHING
  const toggle = useCallback((position: number, isRange: boolean) => {
    const rows = latest.current
    const id = rows[position]
    if (id === undefined) return
    const from = isRange && last.current !== null ? last.current : position
    last.current = position
    setState((before) => {
      const shown = rows.join()
      const next = new Set(before.page === shown ? before.selected : [])
      if (from === position && next.has(id) && !isRange) next.delete(id)
      else for (const each of rows.slice(Math.min(from, position), Math.max(from, position) + 1)) next.add(each)
      return { page: shown, selected: next }
    })
  }, [])
  const toggleAll = useCallback(() => {
    const rows = latest.current
    setState((before) => {
      const shown = rows.join()
      const isAll = before.page === shown && rows.every((id) => before.selected.has(id))
      return { page: shown, selected: new Set(isAll ? [] : rows) }
    })
  }, [])
  const clear = useCallback(() => setState({ page: '', selected: new Set() }), [])
  return { ids: selected, toggle, toggleAll, clear }
}

const NOTHING: ReadonlySet<string> = new Set()
