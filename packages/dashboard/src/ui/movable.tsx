import { Box } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'

interface Movable {
  element: HTMLElement
  /** What had the focus when the place was taken away. */
  focused: HTMLElement | null
}

/**
 * The part that stands beside the rest of a page, and in a tab of its own on a narrow window. It is made once, and
 * moved: made anew in each of its places, it would lose what somebody is writing there.
 * @param openTab Called when the window gets narrow while somebody is writing there: they go on where it is now.
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
