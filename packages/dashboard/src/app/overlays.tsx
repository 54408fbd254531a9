import { notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'
import { openOverlay, showOverlay, useOverlay } from '../ui/overlay.ts'
import { useLater } from '../ui/use-later.ts'
import { text } from './text.ts'

/** By then the current page has loaded. */
const IDLE_MS = 2_500

/** The command palette (Ctrl+K, or Cmd+K) and the help on shortcuts. Loaded when the page is idle, or when needed. */
export function Overlays() {
  const open = useOverlay()
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), IDLE_MS)
    document.addEventListener('keydown', openPalette)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('keydown', openPalette)
      showOverlay(null)
    }
  }, [])
  const wanted = open ?? isIdle
  // Fetched before it is needed, it may fail unseen: it is fetched again when it is needed, unless the browser remembers the failure.
  const onFailure = () => {
    if (open === null) return
    showOverlay(null)
    notifications.show({ color: 'red', message: text.overlayFailed })
  }
  const palette = useLater(wanted, () => import('./palette/command-palette.tsx'), onFailure)
  const help = useLater(wanted, () => import('./shortcut-help.tsx'), onFailure)
  return (
    <>
      {palette ? <palette.CommandPalette isOpen={open === 'palette'} onClose={close} /> : null}
      {help ? <help.ShortcutHelp isOpen={open === 'shortcuts'} onClose={close} /> : null}
    </>
  )
}

const close = () => showOverlay(null)

function openPalette(event: KeyboardEvent): void {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  // The browser would search with its own field.
  event.preventDefault()
  // A dialog is a task of its own: it is finished first. The help, which names this shortcut, gives way.
  const isBusy = openOverlay() !== 'shortcuts' && document.querySelector('[role="dialog"]') !== null
  showOverlay(isBusy ? null : 'palette')
}
