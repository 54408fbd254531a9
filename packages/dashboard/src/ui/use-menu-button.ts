import { useRef } from 'react'

/**
 * For a menu whose entries open dialogs. A dialog gives the focus back to what had it when it was opened; an entry is gone by
 * then, so the menu's button gets the focus first.
 */
export function useMenuButton() {
  const button = useRef<HTMLButtonElement>(null)
  const afterFocus = (open: () => void) => () => {
    button.current?.focus()
    open()
  }
  return { button, afterFocus }
}
