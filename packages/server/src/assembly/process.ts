import { ConfigError } from '../config.ts'

/**
 * Everything that the service or an embedded database writes may contain customer data: no other user may read it.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077)
}

/** A sentence that says what to do about a failed start. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  const { code, message, port } = error as Error & { code?: string; port?: number }
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use by another program. Choose another with PORT, e.g. PORT=8090 npm start`
  }
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} requires elevated privileges. Choose another with PORT.`
  return `The service could not start: ${message}`
}
