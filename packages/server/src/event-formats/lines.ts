import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../platform/errors.ts'
import { parseJsonBody } from '../platform/http/body-parts.ts'

/** The names of ids in all formats. */
const IDS = [
  ...['userId', 'anonymousId', 'previousId', 'groupId', 'messageId'],
  ...['user_id', 'device_id', 'distinct_id', 'event_id', '$insert_id'],
]
const IDS_IN_PROPERTIES = ['distinct_id', '$user_id', '$device_id', '$insert_id']
/** An event has at most 32 KiB of data, so a longer line is none. */
const LINE_BYTES_MAX = 1024 * 1024
/** How much of a line that is too long is kept to be shown. */
const SHOWN_BYTES = 1_000
const LINE_END = 0x0a
/** Any value, but numbers of these names are ids. */
const LINE = { properties: { ...idsOf(IDS), properties: { properties: idsOf(IDS_IN_PROPERTIES) } } }

function idsOf(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { 'x-digits': true }]))
}

/** A line of a file, or a row of a CSV file. */
export interface Line {
  /** Counted from 1; in a CSV file, the header is the first. */
  number: number
  text: string
  /** What it says; an error if it is not an event at all. */
  value: unknown
  /** What was left out of it or kept as text, and why. */
  warnings?: readonly string[]
}

/**
 * Reads lines of JSON, some at a time. Empty lines are skipped.
 * @param done the number of lines to skip without parsing them.
 */
export async function* readJsonLines(bytes: AsyncIterable<Buffer>, done = 0): AsyncGenerator<Line[]> {
  let number = 0
  const linesOf = (block: Buffer): Line[] => {
    const isText = isUtf8(block)
    const lines: Line[] = []
    for (const text of block.toString(isText ? 'utf8' : 'latin1').split('\n')) {
      number++
      if (number <= done) continue
      const own = isText ? text : Buffer.from(text, 'latin1')
      const line = typeof own === 'string' ? lineOf(number, own) : lineOfBytes(number, own)
      if (line !== null) lines.push(line)
    }
    return lines
  }
  let rest = Buffer.alloc(0)
  let isSkipping = false
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(LINE_END)
    if (end === -1) {
      if (isSkipping) continue
      rest = Buffer.concat([rest, chunk])
      if (rest.length <= LINE_BYTES_MAX) continue
      yield [tooLong(++number, rest)].filter((line) => line.number > done)
      rest = Buffer.alloc(0)
      isSkipping = true
      continue
    }
    // The end of a line that was too long is not a line.
    const start = isSkipping ? chunk.indexOf(LINE_END) + 1 : 0
    isSkipping = false
    if (end > start || rest.length > 0) {
      yield linesOf(rest.length === 0 ? chunk.subarray(start, end) : Buffer.concat([rest, chunk.subarray(start, end)]))
    } else if (end === start) number++
    rest = Buffer.from(chunk.subarray(end + 1))
  }
  if (rest.length > 0) yield linesOf(rest)
}

/** @returns null for an empty line. */
function lineOf(number: number, text: string): Line | null {
  if (text.length > LINE_BYTES_MAX) return tooLong(number, Buffer.from(text.slice(0, SHOWN_BYTES)))
  if (text.length < 3 && text.trim() === '') return null
  return { number, text, ...parsed(text) }
}

function lineOfBytes(number: number, bytes: Buffer): Line | null {
  if (isUtf8(bytes)) return lineOf(number, bytes.toString('utf8'))
  return { number, text: bytes.toString('utf8'), value: invalidLine('is not UTF-8 text. Save the file in UTF-8') }
}

function tooLong(number: number, bytes: Buffer): Line {
  const problem = `has more than ${LINE_BYTES_MAX} bytes`
  return { number, text: bytes.toString('utf8', 0, SHOWN_BYTES), value: invalidLine(problem) }
}

function parsed(text: string): Pick<Line, 'value' | 'warnings'> {
  const warnings: string[] = []
  try {
    const value = parseJsonBody(text, LINE, (warning) => void warnings.push(warning))
    return warnings.length === 0 ? { value } : { value, warnings }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { value: error.code === 'invalid_json' ? invalidLine('is not valid JSON') : error }
  }
}

function invalidLine(problem: string): ServiceError {
  return new ServiceError(400, 'invalid_line', `The line ${problem}.`)
}
