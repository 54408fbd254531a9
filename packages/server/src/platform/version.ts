import { createRequire } from 'node:module'

/** The version of the service. */
export const VERSION = String(createRequire(import.meta.url)('../../package.json').version)
