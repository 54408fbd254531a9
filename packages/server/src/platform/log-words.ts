const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
const ERROR = 50
const FIELDS_MAX = 6
const VALUE_LENGTH_MAX = 200
/** They could move the cursor, or look like another line. */
const CONTROL = /\p{Cc}+/gu

interface LoggedLine {
  level: number
  time: number
  msg?: string
  err?: { message: string; code?: unknown; stack?: string }
  [field: string]: unknown
}

/** A line of the log for people: `14:03:12 warn   a pull failed: connect ECONNREFUSED connection=… attempt=2`. */
export function inWords(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as LoggedLine
  const what = [msg, err?.message].filter((text) => text !== undefined).join(': ')
  const named = Object.entries(err?.code === undefined ? fields : { code: err.code, ...fields })
  const shown = named.slice(0, FIELDS_MAX).map(([name, value]) => `${name}=${fieldText(value)}`)
  const more = named.length > FIELDS_MAX ? ['…'] : []
  const line = [clockTime(time), (LEVELS[level] ?? '').padEnd(5), oneLine(what), ...shown, ...more].join(' ')
  const places = level >= ERROR && err?.stack ? `\n${err.stack}` : ''
  return `${line}${places}\n`
}

/** In the time zone of the terminal. */
function clockTime(time: number): string {
  return new Date(time).toTimeString().slice(0, 8)
}

function fieldText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return oneLine(text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text)
}

function oneLine(text: string): string {
  return text.replace(CONTROL, ' ')
}
