import { useElementSize } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { text } from './text.ts'
import classes from './tile.module.css'

/** A chart of less height says nothing; its tile is scrolled then. */
const HEIGHT_MIN = 120

/** What is drawn as high as its tile has place. */
export function Fitted({ children }: { children: (height: number) => ReactNode }) {
  const { ref, height } = useElementSize()
  return (
    <div ref={ref} className={classes.fitted}>
      {height > 0 ? <div className={classes.drawn}>{children(Math.max(HEIGHT_MIN, Math.floor(height)))}</div> : null}
    </div>
  )
}

/** What may be higher than its tile. */
export function Scroll({ name, children }: { name: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of parts that scroll, not of fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div role="group" className={classes.scroll} aria-label={text.tile.contents(name)} tabIndex={0}>
      {children}
    </div>
  )
}
