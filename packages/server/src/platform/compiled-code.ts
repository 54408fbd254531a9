import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const PLACE = fileURLToPath(new URL('../../../../node_modules/.cache/compiled/', import.meta.url))

/**
 * Has Node cache compiled code, which saves a third of the next start. Only modules imported after the call are cached.
 * If the directory is not writable, nothing is cached and nothing fails.
 */
export function cacheCompiledCode(): void {
  enableCompileCache(PLACE)
}

/** Writes the cache now instead of at exit, which a killed process does not reach. */
export function writeCompiledCode(): void {
  flushCompileCache()
}
