import type { ErrorDetail } from './errors.ts'

/** The characters of the longest name. */
export const ZONE_LENGTH_MAX = 64

/** Whether a text is a time zone name, such as `Europe/Berlin`. Offsets are rejected, because they ignore summer time. */
export function isTimeZone(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > ZONE_LENGTH_MAX || !/^[A-Za-z]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

/** What is wrong with the time zone in a field; nothing if there is none. */
export function problemsOfZone(path: string, zone: string | undefined): ErrorDetail[] {
  if (zone === undefined || isTimeZone(zone)) return []
  return [{ path, message: 'must be an IANA time zone such as Europe/Berlin' }]
}
