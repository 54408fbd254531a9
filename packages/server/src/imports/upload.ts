import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { conflict, ServiceError } from '../platform/errors.ts'
import { requireFewer } from '../platform/limits.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Detected, detectEncoding, type Reading, requireText } from './detect-encoding.ts'
import type { ChosenFormat } from './file-format.ts'
import { deleteFile, FILE_BYTES_MAX, fileOf, unfinishedFile } from './files.ts'
import { OPEN_STATES } from './import-object.ts'
import { type Inspected, inspectFile } from './inspect-file.ts'

const OPEN_IMPORTS_MAX = 10
const TENANT_BYTES_MAX = 2_000_000_000
const UPLOADS_AT_ONCE = 2

/** Uploads in progress in this process, by tenant: they count before their imports exist. */
const uploads = new Map<string, number>()

/** A file that was uploaded and inspected. */
export interface Uploaded extends Inspected {
  /** How the first words that are not ASCII read in each encoding that fits. */
  readings: Reading[]
  importId: string
  sizeBytes: number
  sha256: string
}

interface UploadOptions {
  importId: string
  fileName: string
  directory: string
  /** Decompresses the body. */
  decoder: Transform | null
  chosen: ChosenFormat
}

/**
 * Writes a body to the data directory while it arrives, and inspects it. If anything fails, no file is left.
 * @throws ServiceError 400 `invalid_file`, 413 `body_too_large`, 409 `too_many_imports`, `import_storage_full`,
 * 429 `too_many_uploads`, 503 `storage_full`.
 */
export async function receiveFile(tenant: Tenant, body: Readable, options: UploadOptions): Promise<Uploaded> {
  const { importId, fileName, directory, decoder, chosen } = options
  const end = beginUpload(tenant.id)
  try {
    // Refuses a file before its body is read. `insertImport` checks again, because other uploads may end meanwhile.
    await tenant.transaction(requireImportLimits)
    const unfinished = await unfinishedFile(directory, importId)
    try {
      const { detected, ...written } = await writeBody(body, decoder, unfinished)
      const encoding = chosen.encoding ?? requireText(detected, fileName)
      const inspected = await inspectFile(unfinished, fileName, encoding, chosen)
      await rename(unfinished, fileOf(directory, importId))
      return { ...inspected, ...written, readings: detected.readings, importId }
    } catch (error) {
      await deleteFile(unfinished)
      throw explained(error, body)
    }
  } finally {
    end()
  }
}

function beginUpload(tenantId: string): () => void {
  const count = uploads.get(tenantId) ?? 0
  if (count >= UPLOADS_AT_ONCE) {
    const message = `${UPLOADS_AT_ONCE} uploads are in progress. Wait until one has ended.`
    throw new ServiceError(429, 'too_many_uploads', message, { retryAfterSeconds: 10 })
  }
  uploads.set(tenantId, count + 1)
  return () => {
    const left = (uploads.get(tenantId) ?? 1) - 1
    if (left > 0) uploads.set(tenantId, left)
    else uploads.delete(tenantId)
  }
}

/**
 * Limits the open imports of a tenant and the size of its files: call it in the transaction that adds an import.
 * @throws ServiceError 409 `too_many_imports`, `import_storage_full`
 */
export async function requireImportLimits(tx: Tenant): Promise<void> {
  const files = tx.db.selectFrom('imports').where('has_file', '=', true)
  const open = files.where('state', 'in', OPEN_STATES).select(({ fn }) => fn.countAll<number>().as('count'))
  const notEnded = `${OPEN_IMPORTS_MAX} imports have not ended. Start or cancel some of them first.`
  await requireFewer(tx, 'imports', OPEN_IMPORTS_MAX, () => open.executeTakeFirstOrThrow(), notEnded)
  // Until the transaction ends, the lock of `requireFewer` keeps other imports from being added.
  const { bytes } = await files.select(({ fn }) => fn.sum('size_bytes').as('bytes')).executeTakeFirstOrThrow()
  if (Number(bytes ?? 0) >= TENANT_BYTES_MAX) {
    const full = 'The files of the latest imports take up 2 GB. They are deleted seven days after their import.'
    throw conflict('import_storage_full', full)
  }
}

async function writeBody(
  body: Readable,
  decoder: Transform | null,
  path: string,
): Promise<{ sizeBytes: number; sha256: string; detected: Detected }> {
  const hash = createHash('sha256')
  const detecting = detectEncoding()
  let sizeBytes = 0
  async function* observe(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      sizeBytes += chunk.length
      if (sizeBytes > FILE_BYTES_MAX) throw fileTooLarge()
      hash.update(chunk)
      detecting.see(chunk)
      yield chunk
    }
  }
  const target = createWriteStream(path, { mode: 0o600 })
  if (decoder) await pipeline(body, decoder, observe, target)
  else await pipeline(body, observe, target)
  return { sizeBytes, sha256: hash.digest('hex'), detected: await detecting.end() }
}

/** 413 for a file that is too large. */
export function fileTooLarge(): ServiceError {
  const message = `A file can have at most ${FILE_BYTES_MAX / 1_000_000} MB. Divide it into several files, each with the header.`
  return new ServiceError(413, 'body_too_large', message)
}

function explained(cause: unknown, body: Readable): unknown {
  if (cause instanceof ServiceError) return cause
  const { code = '' } = cause as { code?: string }
  if (['ENOSPC', 'EDQUOT'].includes(code)) {
    const message = 'The disk of the data directory is full. Try again once the operator has freed space.'
    return new ServiceError(503, 'storage_full', message, { cause, retryAfterSeconds: 30 })
  }
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT') || code === 'ERR_BUFFER_TOO_LARGE') {
    const message = 'The body does not match its Content-Encoding, or is corrupt or truncated. Send it again.'
    return new ServiceError(400, 'invalid_content_encoding', message, { cause })
  }
  const isCut = code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || body.readableAborted
  return isCut ? new ServiceError(400, 'bad_request', 'The body ended early.', { cause }) : cause
}
