import { open, stat } from 'node:fs/promises'
import type { RecordResult } from '../sources/write-records.ts'
import { unusableFile } from './csv.ts'

/** The file that says what became of each row, in the order of the rows. */
export interface Results {
  path: string
  /** What became of some rows. What comes before its turn waits in memory for the rows before it. */
  write(outcomes: readonly (readonly [row: number, outcome: RecordResult])[]): Promise<void>
  close(): Promise<void>
}

/** Begins the file of results anew. @throws ServiceError 400 `invalid_file` when it cannot be written. */
export async function openResults(importedFile: string, path: string): Promise<Results> {
  const [from, to] = [await stat(importedFile), await stat(path).catch(() => null)]
  if (to && from.dev === to.dev && from.ino === to.ino) {
    throw unusableFile(path, 'is the file that is imported. Choose another file for the results')
  }
  const handle = await open(path, 'w').catch((cause: unknown) => {
    throw unusableFile(path, 'the results cannot be written there. Choose another file with --results', cause)
  })
  await handle.appendFile('row,status,contact_id,error\n')
  const waiting = new Map<number, string>()
  let next = 1
  let written: Promise<void> = Promise.resolve()
  const append = (text: string): Promise<void> => {
    written = written.then(() => (text === '' ? undefined : handle.appendFile(text)))
    return written
  }
  return {
    path,
    write: (outcomes) => {
      for (const [row, outcome] of outcomes) waiting.set(row, lineOf(row, outcome))
      let text = ''
      for (let line = waiting.get(next); line !== undefined; line = waiting.get(next)) {
        text += line
        waiting.delete(next++)
      }
      return append(text)
    },
    close: async () => {
      // After an import that broke off, rows are missing before these.
      const rest = [...waiting].sort(([a], [b]) => a - b)
      await append(rest.map(([, line]) => line).join('')).finally(() => handle.close())
    },
  }
}

function lineOf(row: number, outcome: RecordResult): string {
  if (outcome.status !== 'failed') return `${row},${outcome.status},${outcome.contactId},\n`
  return `${row},failed,,"${outcome.error.message.replaceAll('"', '""')}"\n`
}
