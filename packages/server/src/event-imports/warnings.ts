import { separated } from '../platform/progress.ts'

/** A kind of warning of an import: the part that was ignored in lines that were otherwise recorded. */
export interface ImportWarning {
  /** The number of lines that have it. */
  lines: number
  first_lines: number[]
  message: string
}

/** The warnings of an import so far. */
export interface Warnings {
  /** The number of lines with a warning. */
  lines: number
  kinds: ImportWarning[]
}

/** A message may name a property, so a file could have any number of them. */
const KINDS_MAX = 20
const FIRST_LINES_MAX = 10
const MESSAGE_LENGTH_MAX = 500
const OTHERS = 'Other parts were ignored.'

/** Adds the warnings of a line. */
export function addWarnings(warnings: Warnings, line: number, messages: readonly string[]): void {
  if (messages.length === 0) return
  warnings.lines++
  const { kinds } = warnings
  const find = (message: string) => kinds.find((kind) => kind.message === message)
  const shortened = messages.map((message) => message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed())
  const known = shortened.map((message) => (find(message) || kinds.length < KINDS_MAX ? message : OTHERS))
  for (const message of new Set(known)) {
    const kind = find(message) ?? { lines: 0, first_lines: [], message }
    if (kind.lines === 0) kinds.push(kind)
    kind.lines++
    if (kind.first_lines.length < FIRST_LINES_MAX) kind.first_lines.push(line)
  }
}

/** Describes each kind, for people. */
export function describeWarnings(kinds: readonly ImportWarning[]): string[] {
  return kinds.map(({ lines, first_lines, message }) => {
    const first = `${first_lines.join(', ')}${first_lines.length < lines ? ', …' : ''}`
    return `${separated(lines)} ${lines === 1 ? 'line' : 'lines'} (${first}): ${message}`
  })
}
