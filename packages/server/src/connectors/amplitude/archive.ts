import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Entry, fromFd, type ZipFile } from 'yauzl'
import { OutboundError } from '../../platform/outbound/client.ts'
import { type Download, gunzipped } from '../../platform/outbound/download.ts'

const ENTRIES_MAX = 100_000
const PROBLEM_LENGTH_MAX = 300

/** A file in an archive. */
export interface ArchivedFile {
  /** Its index in the archive, from 0. */
  index: number
  /** The decompressed contents. Memory use does not depend on their size. */
  read(): AsyncGenerator<Buffer>
}

/**
 * Yields the files of a zip archive of gzip files, in order. The archive is untrusted: the sizes that it declares are
 * checked during reading, and its file names are not used for writing.
 * @throws OutboundError `corrupt`, `too_long`
 */
export async function* filesOf(archive: Download): AsyncGenerator<ArchivedFile> {
  const zip = await open(archive)
  let index = 0
  for await (const entry of entriesOf(zip)) {
    if (index >= ENTRIES_MAX) throw corrupt(`It has more than ${ENTRIES_MAX} files.`)
    if (entry.fileName.endsWith('/')) continue
    yield { index: index++, read: () => contentsOf(zip, entry) }
  }
}

async function open({ handle }: Download): Promise<ZipFile> {
  try {
    // Closing the archive would close the file, which belongs to the download.
    return await promisify<number, object, ZipFile>(fromFd)(handle.fd, { lazyEntries: true, autoClose: false })
  } catch (error) {
    throw corrupt((error as Error).message, error)
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | null>((resolve, reject) => {
      const stopListening = () => {
        for (const name of ['entry', 'end', 'error']) zip.removeAllListeners(name)
      }
      const found = (next: Entry | null) => {
        stopListening()
        resolve(next)
      }
      zip.once('entry', found)
      zip.once('end', () => found(null))
      zip.once('error', (error: Error) => {
        stopListening()
        reject(corrupt(error.message, error))
      })
      zip.readEntry()
    })
    if (entry === null) return
    yield entry
  }
}

async function* contentsOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  try {
    const stream = await promisify<Entry, Readable>(zip.openReadStream.bind(zip))(entry)
    if (entry.fileName.endsWith('.gz')) yield* gunzipped(stream)
    else yield* stream as AsyncIterable<Buffer>
  } catch (error) {
    if (error instanceof OutboundError) throw error
    throw corrupt((error as Error).message, error)
  }
}

function corrupt(why: string, cause?: unknown): OutboundError {
  return new OutboundError('corrupt', `The archive cannot be read: ${why}`.slice(0, PROBLEM_LENGTH_MAX), null, cause)
}
