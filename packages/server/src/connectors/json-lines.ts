import { type Line, readJsonLines } from '../event-formats/lines.ts'
import type { Json, RecordsPage, SourceCall } from './connector.ts'
import { EVENTS_PER_PAGE } from './event-lines.ts'

interface LinesOptions {
  /** The number of lines that were already read. */
  done: number
  /** The event of a line; null if the line was read before. */
  toCall(line: Line): SourceCall | null
  /** Where to continue after a line. */
  cursorAfter(line: number): Json
  /** Other contents of a page of lines. */
  more?(calls: readonly SourceCall[], lines: readonly Line[]): Partial<RecordsPage>
  signal: AbortSignal
}

/** Yields the full pages of an event file, and returns the last, possibly empty one. Memory use does not depend on its length. */
export async function* pagesOfLines(
  bytes: AsyncIterable<Buffer>,
  { done, toCall, cursorAfter, more = () => ({}), signal }: LinesOptions,
): AsyncGenerator<RecordsPage, Omit<RecordsPage, 'next'>> {
  let calls: SourceCall[] = []
  let lines: Line[] = []
  const page = () => {
    const full = { ...more(calls, lines), calls }
    calls = []
    lines = []
    return full
  }
  for await (const some of readJsonLines(bytes, done)) {
    signal.throwIfAborted()
    for (const line of some) {
      const call = toCall(line)
      if (call === null) continue
      calls.push(call)
      lines.push(line)
      if (calls.length >= EVENTS_PER_PAGE) yield { ...page(), next: cursorAfter(line.number) }
    }
  }
  return page()
}
