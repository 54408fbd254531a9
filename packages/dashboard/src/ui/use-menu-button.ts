import { useRef } from 'react'

/**
 * For a menu whose entries open dialogs. A closing dialog returns the focus to the element that had it before, but a
 * menu entry is gone by then, so the menu's button gets the focus first.
 */
export function useMenuButton() {
  const button = useRef<HTMLButtonElement>(null)
  const afterFocus = (open: () => void) => () => {
    button.current?.focus()
    open()
  }
  return { button, afterFocus }
}
