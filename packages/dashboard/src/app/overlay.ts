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
export function useOverlay(): Overlay | null {
  return useSyncExternalStore(subscribe, () => open)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
