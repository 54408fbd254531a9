import { useEffect, useRef, useState } from 'react'

/**
 * A part of the page whose script is loaded when it is wanted, and tried again when it is wanted again. Unlike React's
 * `lazy`, a script that does not arrive leaves the rest of the page as it is.
 * @param wanted changes when the part is wanted again; false or null while it is not.
 */
export function useLater<Part>(
  wanted: string | boolean | null,
  load: () => Promise<Part>,
  onFailure?: (error: unknown) => void,
): Part | null {
  const [part, setPart] = useState<Part | null>(null)
  const latest = useRef({ load, onFailure, isLoaded: false })
  latest.current = { load, onFailure, isLoaded: part !== null }
  useEffect(() => {
    if (wanted === false || wanted === null || latest.current.isLoaded) return
    latest.current.load().then(
      (loaded) => setPart(() => loaded),
      (error: unknown) => latest.current.onFailure?.(error),
    )
  }, [wanted])
  return part
}
