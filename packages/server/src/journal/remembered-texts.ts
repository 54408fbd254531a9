import type { JournalRow } from './append.ts'
import { type BatchRow, readTexts } from './batches.ts'
import { type BatchLock, setAsideIncomplete } from './refused.ts'

const REMEMBERED_BYTES_MAX = 64_000_000

/** The texts of the latest rows that this process has committed, so that they need not be read back. */
export function rememberTexts() {
  const texts = new Map<string, string>()
  let bytes = 0
  function forget(journalId: string): void {
    bytes -= texts.get(journalId)?.length ?? 0
    texts.delete(journalId)
  }
  return {
    get: (journalId: string) => texts.get(journalId),
    bytes: () => bytes,
    forget,
    add: (journalId: string, text: string) => {
      texts.set(journalId, text)
      bytes += text.length
      for (const oldest of texts.keys()) {
        if (bytes <= REMEMBERED_BYTES_MAX) return
        forget(oldest)
      }
    },
  }
}

/** A batch's rows with their texts, in order. Corrupt rows are set aside. */
export async function textsOf(
  texts: ReturnType<typeof rememberTexts>,
  lock: BatchLock,
  rows: BatchRow[],
): Promise<Map<string, JournalRow>> {
  const unknown = rows.filter(({ journalId }) => texts.get(journalId) === undefined)
  const read = await readTexts(
    lock.transaction,
    unknown.map(({ journalId }) => journalId),
  )
  const complete = new Map<string, JournalRow>()
  for (const { journalId, table, rowCount, sequence } of rows) {
    const row = { journalId, table, sequence, rows: texts.get(journalId) ?? read.get(journalId) ?? '' }
    if (read.has(journalId) && (await setAsideIncomplete(lock, row, rowCount))) continue
    complete.set(journalId, row)
  }
  return complete
}
