import { useSyncExternalStore } from 'react'

/** What lies over every page when it is open. */
type Overlay = 'palette' | 'shortcuts'

let open: Overlay | null = null
const listeners = new Set<() => void>()

export function showOverlay(overlay: Overlay | null): void {
  open = overlay
  for (const listener of listeners) listener()
}

/** What is open. */
export const openOverlay = (): Overlay | null => open

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(subscribe, openOverlay)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
