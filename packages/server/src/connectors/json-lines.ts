import type { Line } from '../event-formats/lines.ts'
import type { Json, RecordsPage, SourceCall } from './connector.ts'
import { EVENTS_PER_PAGE } from './event-lines.ts'

/** Some lines of a file. */
export interface FileLines {
  lines: readonly Line[]
  /** The event of a line; null if the line was read before. */
  toCall(line: Line): SourceCall | null
  /** Where to continue after a line. */
  cursorAfter(line: number): Json
}

/**
 * Yields the full pages of event files, and returns the last, possibly empty one. Small files share a page. Memory use does not
 * depend on the length of a file.
 * @param more returns the other contents of a page, from its lines
 */
export async function* pagesOfLines(
  files: AsyncIterable<FileLines>,
  signal: AbortSignal,
  more: (lines: readonly Line[]) => Partial<RecordsPage> = () => ({}),
): AsyncGenerator<RecordsPage, Omit<RecordsPage, 'next'>> {
  let calls: SourceCall[] = []
  let read: Line[] = []
  const page = () => {
    const full = { ...more(read), calls }
    calls = []
    read = []
    return full
  }
  for await (const { lines, toCall, cursorAfter } of files) {
    signal.throwIfAborted()
    for (const line of lines) {
      const call = toCall(line)
      if (call === null) continue
      calls.push(call)
      read.push(line)
      if (calls.length >= EVENTS_PER_PAGE) yield { ...page(), next: cursorAfter(line.number) }
    }
  }
  return page()
}
