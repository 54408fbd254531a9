import { readLocalStorageValue, useLocalStorage } from '@mantine/hooks'
import { useEffect, useRef, useSyncExternalStore } from 'react'

export interface Shortcut {
  /** A key, with shift if it is a letter (`Shift+J`), or two that are pressed one after the other: `g c`. */
  keys: string
  label: string
  /** What it does. Without it, it is only listed: the focused part handles the key itself. */
  run?: () => void
}

interface ShortcutGroup {
  title: string
  shortcuts: readonly Shortcut[]
}

/** Another key must follow the first one of two within this time. */
const NEXT_KEY_MS = 1_000
const STORED = { key: 'shortcuts', defaultValue: true } as const

/** The groups of the parts on the screen; the latest is the last. Replaced, never changed. */
let groups: readonly { readonly current: ShortcutGroup }[] = []
const listeners = new Set<() => void>()
let firstKey: string | null = null
let forgetting: ReturnType<typeof setTimeout> | undefined

/**
 * Keyboard shortcuts of a page or a part while it is on the screen. They do nothing in fields, dialogs and menus, with a
 * modifier, or when the person has switched them off. All of them are listed by `?`.
 * @param shortcuts undefined while they are not available.
 */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[] | undefined): void {
  const latest = useRef<ShortcutGroup>({ title, shortcuts: [] })
  latest.current = { title, shortcuts: shortcuts ?? [] }
  const isAvailable = shortcuts !== undefined
  useEffect(() => {
    if (!isAvailable) return
    setGroups([...groups, latest])
    return () => setGroups(groups.filter((group) => group !== latest))
  }, [isAvailable])
}

/** The shortcuts that work now, for the help. */
export function useShortcutGroups(): ShortcutGroup[] {
  return useSyncExternalStore(subscribe, () => groups).map(({ current }) => current)
}

/** Whether the person uses shortcuts, and a function that changes this. */
export function useShortcutsSwitch() {
  return useLocalStorage<boolean>({ ...STORED, getInitialValueInEffect: false })
}

function setGroups(next: typeof groups): void {
  if (groups.length === 0) document.addEventListener('keydown', onKeyDown)
  groups = next
  if (groups.length === 0) document.removeEventListener('keydown', onKeyDown)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key === 'Shift') return
  const key = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key
  const keys = firstKey === null ? key : `${firstKey} ${key}`
  const isSecond = firstKey !== null
  rememberFirstKey(null)
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  const isBusy = document.querySelector(':is([role="dialog"], [role="menu"])') !== null
  if (isBusy || !readLocalStorageValue<boolean>(STORED)) return
  // What is listed last is nearest to the person: a page before the frame around it.
  const all = groups.flatMap(({ current }) => current.shortcuts).reverse()
  const shortcut = all.find((each) => each.keys === keys)
  if (shortcut?.run) {
    event.preventDefault()
    shortcut.run()
  } else if (!isSecond && all.some((each) => each.keys.startsWith(`${event.key} `))) {
    rememberFirstKey(event.key)
  }
}

function rememberFirstKey(key: string | null): void {
  clearTimeout(forgetting)
  firstKey = key
  if (key !== null) forgetting = setTimeout(() => rememberFirstKey(null), NEXT_KEY_MS)
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type)
  return target.isContentEditable || target.matches('textarea, select')
}
