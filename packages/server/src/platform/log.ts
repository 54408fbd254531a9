import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

export type { Logger } from 'pino'

const EMAIL = /[^\s"'<>()[\]@:,=\\]{1,64}@[^\s"'<>()[\]@:,=\\]{1,255}/g
const API_KEY = /cds_[A-Za-z0-9_-]{4,}/g
const WEBHOOK_SECRET = /whsec_[A-Za-z0-9+/=_-]{4,}/g
const URL_PASSWORD = /(\w:\/\/[^\s:@/"]*):[^\s@/"]*@/g

/**
 * Structured logs, a JSON object a line. Whatever a message or an engine's error quotes, no secret and no e-mail
 * address leaves the process: each line is cleaned as it is written.
 */
export function createLog(level: Config['logLevel'], destination?: DestinationStream): Logger {
  const options = { level, base: undefined, hooks: { streamWrite: redact } }
  return destination ? pino(options, destination) : pino(options)
}

/** Replaces API keys, webhook secrets, passwords in URLs and e-mail addresses. */
export function redact(line: string): string {
  if (!line.includes('@') && !line.includes('cds_') && !line.includes('whsec_')) return line
  return line
    .replace(URL_PASSWORD, '$1:[secret]@')
    .replace(API_KEY, 'cds_[secret]')
    .replace(WEBHOOK_SECRET, 'whsec_[secret]')
    .replace(EMAIL, '[email]')
}
