import { type Line, readJsonLines } from '../event-formats/lines.ts'
import type { Json, RecordsPage, SourceCall } from './connector.ts'
import { EVENTS_PER_PAGE } from './event-lines.ts'

interface LinesOptions {
  /** The lines before were read. */
  done: number
  /** The event that a line is; null for one that was read before. */
  toCall(line: Line): SourceCall | null
  /** Where to continue after a line. */
  cursorAfter(line: number): Json
  /** What else a page of lines says. */
  more?(calls: readonly SourceCall[], lines: readonly Line[]): Partial<RecordsPage>
  signal: AbortSignal
}

/** The pages of a file of events; the rest, which may be none, is returned. Memory use does not depend on its length. */
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
