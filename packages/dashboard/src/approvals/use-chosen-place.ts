import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { actionKey } from '../agents/action-words.ts'
import type { WaitingAction } from './waiting.ts'

/**
 * The chosen action among those of a page, and where the focus goes. Beside the list there is always a preview; on a
 * narrow screen the list is covered by it, once it is opened.
 * @param action the key of the chosen action in the address.
 */
export function useChosenPlace(
  actions: readonly WaitingAction[],
  action: string | undefined,
  onChoose: (key: string | undefined, isStep: boolean) => unknown,
) {
  const isWide = useMediaQuery('(min-width: 64em)', true, { getInitialValueInEffect: false })
  const [chosenKey, choose] = useChosen(action, (key) => onChoose(key, !isWide && action === undefined))
  const [rows] = useState(() => new Map<string, HTMLElement>())
  const preview = useRef<HTMLElement>(null)
  const takesFocus = useRef(false)
  const keys = actions.map(actionKey)
  const found = chosenKey === undefined ? -1 : keys.indexOf(chosenKey)
  const chosen = found < 0 && isWide ? 0 : found
  const current = actions[chosen]

  /** Chooses an action, and gives its row the focus, or its preview where that covers the list. */
  const focus = (index: number) => {
    const key = keys[index]
    if (key === undefined) return
    takesFocus.current = true
    if (key === chosenKey) giveFocus()
    else choose(key)
  }
  const giveFocus = () => {
    takesFocus.current = false
    const row = current && rows.get(actionKey(current))
    const isShown = row !== undefined && row.getClientRects().length > 0
    if (!isShown) return preview.current?.focus()
    row.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once another one is chosen
  useLayoutEffect(() => {
    preview.current?.scrollTo({ top: 0 })
    if (takesFocus.current) giveFocus()
  }, [chosen, chosenKey])
  const open = (index: number) => {
    focus(index)
    requestAnimationFrame(() => preview.current?.focus())
  }
  const back = () => {
    const row = rows.get(chosenKey ?? '')
    choose(undefined)
    requestAnimationFrame(() => row?.focus())
  }
  return {
    keys,
    chosen,
    current,
    isWide,
    isOpened: found >= 0,
    /** The address names an action that is not on this page. */
    isElsewhere: action !== undefined && found < 0 && chosenKey === action,
    rows,
    preview,
    choose,
    focus,
    open,
    giveFocus,
    back,
  }
}

/**
 * The chosen action, which the address has too. Keys can be faster than the router, so the address follows; what others
 * change in it, such as the browser's button for the previous page, is followed in turn.
 * @param inAddress the key of the action in the address.
 */
function useChosen(inAddress: string | undefined, write: (key: string | undefined) => unknown) {
  const [chosen, setChosen] = useState(inAddress)
  /** What was written and may still arrive. */
  const written = useRef<(string | undefined)[]>([inAddress])
  useEffect(() => {
    const at = written.current.indexOf(inAddress)
    if (at < 0) setChosen(inAddress)
    // Earlier ones will not arrive any more.
    written.current = at < 0 ? [inAddress] : written.current.slice(at)
  }, [inAddress])
  const choose = (key: string | undefined) => {
    setChosen(key)
    if (key === written.current.at(-1)) return
    written.current = [...written.current, key]
    void write(key)
  }
  return [chosen, choose] as const
}
