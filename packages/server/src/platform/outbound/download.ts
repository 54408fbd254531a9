import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Dispatcher, request } from 'undici'
import { MINUTE_MS } from '../time.ts'
import { OutboundError } from './client.ts'

/** Systems prepare a large export before they send its first byte. */
const HEADERS_MS_MAX = 240_000
/** A server that sends nothing for this long has stopped. */
const IDLE_MS_MAX = 30_000
export const DOWNLOAD_MS_MAX = 5 * MINUTE_MS
const ERROR_BYTES_MAX = 64 * 1024
const READ_BYTES = 256 * 1024
/** The maximum decompressed size. A small compressed file may contain a lot. */
const UNPACKED_BYTES_MAX = 64 * 1024 ** 3

/** A downloaded body. The file on disk is unlinked, so nothing remains once it is closed or the process ends. */
export interface Download {
  handle: FileHandle
  /** The number of bytes that were sent. */
  bytes: number
  /** The SHA-256 of the bytes that were sent. */
  digest: string
  /** The contents, decompressed if they were sent compressed. Memory use does not depend on their size. @throws OutboundError */
  read(): AsyncGenerator<Buffer>
  close(): Promise<void>
}

export interface DownloadOptions {
  /** The directory of the file. It is created if necessary. */
  directory: string
  bytesMax: number
}

/** A response. If it is a success, its body is a file; otherwise `error` has the start of the body. */
export interface Downloaded {
  status: number
  headers: Dispatcher.ResponseData['headers']
  file: Download | null
  error: string
}

/** Requests a URL that was checked, and stores the body of a success. @throws OutboundError, undici's error */
export async function download(
  url: URL,
  options: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body' | 'signal'> & { dispatcher: Dispatcher },
  { directory, bytesMax }: DownloadOptions,
): Promise<Downloaded> {
  const timeouts = { headersTimeout: HEADERS_MS_MAX, bodyTimeout: IDLE_MS_MAX }
  const { statusCode: status, headers, body } = await request(url, { ...options, ...timeouts })
  if (status < 200 || status >= 300) return { status, headers, file: null, error: await startOf(body) }
  const isGzip = String(headers['content-encoding'] ?? '').toLowerCase() === 'gzip'
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, randomUUID())
  const handle = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
    const { bytes, digest } = await store(body, handle, bytesMax)
    const read = () => bytesOf(handle, isGzip)
    return { status, headers, error: '', file: { handle, bytes, digest, read, close: () => handle.close() } }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function store(body: AsyncIterable<unknown>, handle: FileHandle, bytesMax: number) {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of body) {
    const part = chunk as Buffer
    bytes += part.length
    // Leaving the loop destroys the stream.
    if (bytes > bytesMax) throw tooLong(bytesMax)
    hash.update(part)
    await handle.write(part)
  }
  return { bytes, digest: hash.digest('hex') }
}

function bytesOf(handle: FileHandle, isGzip: boolean): AsyncGenerator<Buffer> {
  return isGzip ? gunzipped(Readable.from(storedBytes(handle))) : storedBytes(handle)
}

/** Not a stream of the file handle, which would close it. */
async function* storedBytes(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** The contents of a gzip stream. @throws OutboundError `corrupt`, `too_long` */
export async function* gunzipped(bytes: Readable): AsyncGenerator<Buffer> {
  const plain = createGunzip({ chunkSize: READ_BYTES })
  bytes.on('error', (error) => plain.destroy(error))
  bytes.pipe(plain)
  let length = 0
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > UNPACKED_BYTES_MAX) throw tooLong(UNPACKED_BYTES_MAX)
      yield chunk
    }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (!code.startsWith('Z_')) throw error
    throw new OutboundError('corrupt', 'The compressed response is damaged or incomplete.', null, error)
  } finally {
    bytes.destroy()
  }
}

async function startOf(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    if (length > ERROR_BYTES_MAX) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLong(bytesMax: number): OutboundError {
  const message = `The response is longer than ${Math.round(bytesMax / 1024 ** 2).toLocaleString('en-US')} MiB.`
  return new OutboundError('too_long', message, null)
}
