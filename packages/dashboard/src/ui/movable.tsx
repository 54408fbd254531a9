import { Box } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

interface Movable {
  element: HTMLElement
  /** The element that had the focus before the move. */
  focused: HTMLElement | null
}

/**
 * A part that is beside the rest of a page, or in a separate tab in a narrow window. It is rendered once and moved,
 * because rendering it again would lose unsaved input.
 * @param openTab called when the window gets narrow while a person is typing there, so that they can continue.
 */
export function useSide(openTab: () => void): { side: Movable; isNarrow: boolean } {
  const isNarrow = useMediaQuery('(max-width: 61.99em)', false, { getInitialValueInEffect: false })
  const [side] = useState((): Movable => ({ element: document.createElement('div'), focused: null }))
  const followWriter = useEffectEvent(() => {
    if (side.focused) openTab()
  })
  useEffect(() => {
    if (isNarrow) followWriter()
  }, [isNarrow])
  return { side, isNarrow }
}

/** The content, rendered once. */
export function MovableContent({ of, children }: { of: Movable; children: ReactNode }) {
  return createPortal(children, of.element)
}

/** A place where the content may be. */
export function MovablePlace({ of }: { of: Movable }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.append(of.element)
    of.focused?.focus()
    of.focused = null
    return () => {
      // An element that leaves the page loses the focus; it is restored at the next place.
      const { activeElement } = document
      of.focused = activeElement instanceof HTMLElement && of.element.contains(activeElement) ? activeElement : null
    }
  }, [of])
  return <Box miw={0} ref={place} />
}
