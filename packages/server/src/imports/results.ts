import { open, stat } from 'node:fs/promises'
import type { RecordResult } from '../sources/write-records.ts'
import { unusableFile } from './csv.ts'

/** The file that says what became of each row. */
export interface Results {
  path: string
  write(firstRow: number, outcomes: readonly RecordResult[]): Promise<void>
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
  return {
    path,
    write: (firstRow, outcomes) =>
      handle.appendFile(outcomes.map((outcome, index) => lineOf(firstRow + index, outcome)).join('')),
    close: () => handle.close(),
  }
}

function lineOf(row: number, outcome: RecordResult): string {
  if (outcome.status !== 'failed') return `${row},${outcome.status},${outcome.contactId},\n`
  return `${row},failed,,"${outcome.error.message.replaceAll('"', '""')}"\n`
}
