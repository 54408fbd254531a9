import { open, stat } from 'node:fs/promises'
import type { RecordResult } from '../sources/apply-records.ts'
import { unusableFile } from './csv.ts'

/** The file with the result of each row, in the order of the rows. */
export interface Results {
  path: string
  /** Writes results of some rows. Results wait in memory for those of earlier rows. */
  write(outcomes: readonly (readonly [row: number, outcome: RecordResult])[]): Promise<void>
  close(): Promise<void>
}

/** Creates or overwrites the results file. @throws ServiceError 400 `invalid_file` if it cannot be written. */
export async function openResults(importedFile: string, path: string): Promise<Results> {
  const [from, to] = [await stat(importedFile), await stat(path).catch(() => null)]
  if (to && from.dev === to.dev && from.ino === to.ino) {
    throw unusableFile(path, 'is the imported file. Choose another file for the results')
  }
  const handle = await open(path, 'w').catch((cause: unknown) => {
    throw unusableFile(path, 'cannot be written. Choose another file for the results with --results', cause)
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
      // After an aborted import, earlier rows are missing.
      const rest = [...waiting].sort(([a], [b]) => a - b)
      await append(rest.map(([, line]) => line).join('')).finally(() => handle.close())
    },
  }
}

function lineOf(row: number, outcome: RecordResult): string {
  if (outcome.status !== 'failed') return `${row},${outcome.status},${outcome.contactId},\n`
  return `${row},failed,,"${outcome.error.message.replaceAll('"', '""')}"\n`
}
