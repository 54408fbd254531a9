import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const PLACE = fileURLToPath(new URL('../../../../node_modules/.cache/compiled/', import.meta.url))

/**
 * Has Node keep what it makes of the sources, so that the next start need not make it again: a third of a start is that.
 * Only what is imported after the call is kept. Where the place cannot be written, nothing is kept and nothing is lost.
 */
export function keepCompiledCode(): void {
  enableCompileCache(PLACE)
}

/** Writes down now what would be written at the end, which a process that is killed does not reach. */
export function writeCompiledCode(): void {
  flushCompileCache()
}
