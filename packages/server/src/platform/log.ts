import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { inWords } from './log-words.ts'
import { loggedError } from './logged-error.ts'

export type { Logger } from 'pino'

/** Without slashes: `node_modules/@scope/name.js` is no address. */
const EMAIL = /[^\s"'<>()[\]@:,=\\/]{1,64}@[^\s"'<>()[\]@:,=\\/]{1,255}/g
const API_KEY = /cds_[A-Za-z0-9_-]{4,}/g
const IDENTITY_SECRET = /cdsid_[A-Za-z0-9_-]{4,}/g
const WEBHOOK_SECRET = /whsec_[A-Za-z0-9+/=_-]{4,}/g
const URL_PASSWORD = /(\w:\/\/[^\s:@/"]*):[^\s@/"]*@/g

const UNWRITTEN_BYTES_MAX = 1_000_000

interface LogOptions {
  /** Words are for people; programs read JSON. */
  format?: 'words' | 'json'
  /** Instead of the standard output. */
  destination?: DestinationStream
}

/**
 * Structured logs: a JSON object or a sentence per line. They name records by their ids, and errors are shown without the data that
 * they quote. Every line is redacted as it is written too, so no secret or email address leaves the process, even if a
 * message has one.
 */
export function createLog(level: Config['logLevel'], { format = 'json', destination }: LogOptions = {}): Logger {
  const serializers = { err: (error: unknown) => loggedError(error) }
  const streamWrite = format === 'json' ? redact : (line: string) => inWords(redact(line))
  const options = { level, base: undefined, serializers, hooks: { streamWrite } }
  if (destination) return pino(options, destination)
  // Without `minLength`, it ignores `flush`.
  const output = pino.destination({ fd: 1, sync: true, minLength: 1, maxLength: UNWRITTEN_BYTES_MAX })
  const log = pino(options, output)
  let dropped = 0
  // Standard output may be a file on a full disk or a pipe without a reader. Lines that cannot be written stay in
  // memory, up to a limit, and are written with the next line that succeeds.
  output.on('error', () => {})
  output.on('drop', () => {
    dropped++
    // When its buffer is full, it must be told to retry.
    output.flush()
  })
  output.on('write', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    setImmediate(() => log.warn({ lines }, 'log lines were lost because they could not be written'))
  })
  return log
}

/** Replaces API keys, identity and webhook secrets, passwords in URLs and email addresses. */
export function redact(line: string): string {
  if (!/@|cds_|cdsid_|whsec_/.test(line)) return line
  return line
    .replace(URL_PASSWORD, '$1:[secret]@')
    .replace(API_KEY, 'cds_[secret]')
    .replace(IDENTITY_SECRET, 'cdsid_[secret]')
    .replace(WEBHOOK_SECRET, 'whsec_[secret]')
    .replace(EMAIL, '[email]')
}
