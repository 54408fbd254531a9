import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import type { Line } from '../event-formats/lines.ts'
import { unusableFile } from '../imports/csv.ts'
import type { ServiceError } from '../platform/errors.ts'

/** The file with the lines that failed, in JSON lines. */
export interface ErrorsFile {
  path: string
  write(failed: readonly { line: Line; error: Pick<ServiceError, 'code' | 'message'> }[]): Promise<void>
  /** Its length. */
  bytes(): number
  /** Closes it, and deletes it if it is empty. */
  close(): Promise<void>
}

/**
 * Opens the file, and keeps what an interrupted import has written to it.
 * @param imported the path of the imported file. @param keep bytes to keep.
 * @throws ServiceError 400 `invalid_file` if it cannot be written.
 */
export async function openErrors(path: string, imported: string, keep: number): Promise<ErrorsFile> {
  const [from, to] = [await stat(imported), await stat(path).catch(() => null)]
  if (to && from.dev === to.dev && from.ino === to.ino) {
    throw unusableFile(path, 'is the imported file. Choose another file for the errors with --errors')
  }
  const handle = await open(path, keep > 0 && to ? 'r+' : 'w').catch((cause: unknown) => {
    throw unusableFile(path, 'cannot be written. Choose another file for the errors with --errors', cause)
  })
  let bytes = keep > 0 && to ? Math.min(keep, to.size) : 0
  await handle.truncate(bytes)
  return {
    path,
    write: async (failed) => {
      const text = failed.map(({ line, error }) => lineOf(line, error)).join('')
      bytes += await append(handle, text, bytes)
    },
    bytes: () => bytes,
    close: async () => {
      await handle.close()
      if (bytes === 0) await rm(path, { force: true })
    },
  }
}

async function append(handle: FileHandle, text: string, at: number): Promise<number> {
  if (text === '') return 0
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written, at + written)).bytesWritten
  }
  return bytes.length
}

function lineOf({ number, text }: Line, { code, message }: Pick<ServiceError, 'code' | 'message'>): string {
  return `${JSON.stringify({ line: number, code, message, text })}\n`
}
