import type { Line } from '../event-formats/lines.ts'
import type { ServiceError } from '../platform/errors.ts'
import type { Call } from '../sites/ingestion/call.ts'
import type { EventsFile } from './open-events.ts'

/** Enough to amortize the statements of a chunk. */
const LINES_MAX = 4_000
/** Limits chunks of long lines, so that memory use stays constant. */
const CHARACTERS_MAX = 6_000_000

/** Lines that are recorded together. */
export interface Chunk {
  /** The number of the line before the first. */
  before: number
  lines: Line[]
  /** The call of each line, or why the line fails. */
  calls: (Call | ServiceError)[]
  /** The ignored parts of each line. */
  warnings: string[][]
  /** The number of the last line. */
  last: number
}

/**
 * Reads the lines that are not done. @param border a line after which a chunk ends: everything up to it was recorded by
 * an interrupted import.
 */
export async function* chunksOf(events: EventsFile, done: number, border: number): AsyncGenerator<Chunk> {
  let chunk = emptyChunk(done)
  let characters = 0
  for await (const lines of events.read(done)) {
    for (const line of lines) {
      const isBorder = chunk.last <= border && line.number > border
      const isFull = chunk.lines.length >= LINES_MAX || characters >= CHARACTERS_MAX
      if (chunk.lines.length > 0 && (isFull || isBorder)) {
        yield chunk
        chunk = emptyChunk(chunk.last)
        characters = 0
      }
      chunk.lines.push(line)
      const warnings: string[] = []
      chunk.calls.push(events.toCall(line, warnings))
      chunk.warnings.push(warnings)
      chunk.last = line.number
      characters += line.text.length
    }
  }
  if (chunk.lines.length > 0) yield chunk
}

function emptyChunk(before: number): Chunk {
  return { before, lines: [], calls: [], warnings: [], last: before }
}
