import { useState } from 'react'
import type { Entity } from '../api/types.ts'
import { useMe } from '../session/may.ts'
import { type ColumnLayout, moved } from '../ui/data-table-column.ts'

/** What this browser keeps for each person, workspace and table. */
interface Kept {
  columns?: string[]
  widths: Record<string, number>
}

interface Layout {
  /** The shown columns, in their order. */
  chosen: readonly string[]
  choose: (columns: string[]) => void
  /** Back to the default; absent if nothing was changed. */
  reset: (() => void) | undefined
  layout: ColumnLayout
}

/**
 * Columns of a table, as the person arranged them.
 * @param linked the columns in the URL, as a saved view sets them: they win until the person chooses others.
 */
export function useLayout(
  entity: Entity,
  usual: readonly string[],
  linked: readonly string[] | undefined,
  unlink: () => unknown,
): Layout {
  const { tenant, user } = useMe()
  const key = `columns:${tenant.tenant_id}:${user.user_id}:${entity}`
  const [kept, setKept] = useState(() => read(key))
  const chosen = linked ?? kept.columns ?? usual
  const keep = (changed: Partial<Kept>) => {
    const next = { ...kept, ...changed }
    setKept(next)
    localStorage.setItem(key, JSON.stringify(next))
  }
  const choose = (columns: string[]) => {
    keep({ columns })
    if (linked) unlink()
  }
  const reset = () => {
    setKept({ widths: {} })
    localStorage.removeItem(key)
    if (linked) unlink()
  }
  const isChanged = linked !== undefined || kept.columns !== undefined || Object.keys(kept.widths).length > 0
  const onWidth = (id: string, width: number | undefined) => {
    const { [id]: _before, ...others } = kept.widths
    keep({ widths: width === undefined ? others : { ...others, [id]: width } })
  }
  return {
    chosen,
    choose,
    reset: isChanged ? reset : undefined,
    layout: { widths: kept.widths, onWidth, onMove: (id, to) => choose(moved(chosen, id, to)) },
  }
}

/** Anyone can change what a browser stores, and an earlier version may have stored something else. */
function read(key: string): Kept {
  try {
    const { columns, widths } = JSON.parse(localStorage.getItem(key) ?? '{}') as { columns?: unknown; widths?: unknown }
    const numbers = Object.entries(widths ?? {}).filter((entry): entry is [string, number] => Number.isFinite(entry[1]))
    const isList = Array.isArray(columns) && columns.length > 0 && columns.every((each) => typeof each === 'string')
    return { ...(isList ? { columns: columns as string[] } : {}), widths: Object.fromEntries(numbers) }
  } catch {
    return { widths: {} }
  }
}
