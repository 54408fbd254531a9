import { Box } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

interface Movable {
  element: HTMLElement
  /** What had the focus when the place was taken away. */
  focused: HTMLElement | null
}

/**
 * A part of a page that has another place on a narrow window. It is made once, and moved: made anew in each of its
 * places, it would lose what somebody is writing there.
 */
export function useMovable(): Movable {
  const [movable] = useState(() => ({ element: document.createElement('div'), focused: null }))
  return movable
}

/** What is in it, given once, wherever its place is. */
export function MovableContent({ of, children }: { of: Movable; children: ReactNode }) {
  return createPortal(children, of.element)
}

/** Where it stands now. */
export function MovablePlace({ of }: { of: Movable }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.append(of.element)
    of.focused?.focus()
    of.focused = null
    return () => {
      // Whatever leaves the page loses the focus, and gets it back at the next place.
      const { activeElement } = document
      of.focused = activeElement instanceof HTMLElement && of.element.contains(activeElement) ? activeElement : null
    }
  }, [of])
  return <Box miw={0} ref={place} />
}
