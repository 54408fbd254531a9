import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { unusableFile } from '../imports/csv.ts'

const READ_BYTES = 256 * 1024
/** Enough to recognize the format. */
export const SAMPLE_BYTES = 256 * 1024
const STANDARD_INPUT = '-'

/** A file of events, which can be read more than once. */
export interface Input {
  /** Its name in messages. */
  name: string
  path: string
  /** SHA-256 of its contents, uncompressed. */
  digest: string
  /** The first bytes, uncompressed. */
  sample: Buffer
  read(): AsyncIterable<Buffer>
  close(): Promise<void>
}

/**
 * Opens a file, which may be compressed with gzip. It is read once to its end, so that a file that cannot be read is
 * rejected before anything is written.
 * @param path `-` for standard input, which is copied to a temporary file.
 * @throws ServiceError 400 `invalid_file`.
 */
export async function openInput(path: string): Promise<Input> {
  if (path !== STANDARD_INPUT) return inspected(path, path, async () => {})
  const directory = await mkdtemp(join(tmpdir(), 'cdsctl-'))
  const close = () => rm(directory, { recursive: true, force: true })
  try {
    const copy = join(directory, 'events')
    await pipeline(process.stdin, createWriteStream(copy, { mode: 0o600 }))
    return await inspected('standard input', copy, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function inspected(name: string, path: string, close: () => Promise<void>): Promise<Input> {
  try {
    const isCompressed = await isGzip(name, path)
    const read = () => bytesOf(path, isCompressed)
    const { hash, sample } = await hashAndSample(read())
    return { name, path, digest: hash.digest('hex'), sample, read, close }
  } catch (error) {
    throw explained(name, error)
  }
}

async function isGzip(name: string, path: string): Promise<boolean> {
  if (!(await stat(path)).isFile()) throw unusableFile(name, 'is not a file')
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await handle.close()
  }
}

async function* bytesOf(path: string, isCompressed: boolean): AsyncGenerator<Buffer> {
  const bytes = createReadStream(path, { highWaterMark: READ_BYTES })
  if (!isCompressed) {
    yield* bytes
    return
  }
  const plain = createGunzip({ chunkSize: READ_BYTES })
  // An error of one stream ends the other, and so the reader's loop, which reports it.
  pipeline(bytes, plain).catch(() => {})
  yield* Readable.from(plain)
}

async function hashAndSample(bytes: AsyncIterable<Buffer>): Promise<{ hash: Hash; sample: Buffer }> {
  const hash = createHash('sha256')
  let sample = Buffer.alloc(0)
  for await (const chunk of bytes) {
    hash.update(chunk)
    if (sample.length < SAMPLE_BYTES) {
      sample = Buffer.concat([sample, chunk.subarray(0, SAMPLE_BYTES - sample.length)])
    }
  }
  return { hash, sample }
}

function explained(name: string, error: unknown): unknown {
  const { code = '' } = error as { code?: string }
  if (code === 'ENOENT' || code === 'ENOTDIR') return unusableFile(name, 'does not exist', error)
  if (code === 'EACCES' || code === 'EPERM') return unusableFile(name, 'cannot be read: permission denied', error)
  if (code.startsWith('Z_')) return unusableFile(name, 'is not complete: decompressing it failed', error)
  return error
}
