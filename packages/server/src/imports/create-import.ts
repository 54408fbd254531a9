import type { Readable, Transform } from 'node:stream'
import type { Actor } from '../operations/audit.ts'
import { performOnce } from '../operations/idempotency.ts'
import { type Memory, NO_MEMORY } from '../operations/perform.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import type { ChosenFormat } from './file-format.ts'
import { deleteFile, FILE_BYTES_MAX, fileOf } from './files.ts'
import type { Import } from './import-object.ts'
import { importExists, readImport } from './imports.ts'
import { insertImport } from './insert-import.ts'
import type { Proposal } from './remembered-mapping.ts'
import { fileTooLarge, receiveFile, type Uploaded } from './upload.ts'

const NAME = 'contacts.csv'

/** A file that is being sent. */
export interface SentFile {
  name: string | undefined
  body: Readable
  /** Decompresses the body; null if it is not compressed. */
  decoder: Transform | null
  /** As declared by the sender; NaN if it is not. */
  bytes: number
  /** How the file is written, where that should not be detected. */
  chosen?: ChosenFormat
}

type Output = { import: Import }

/** What makes a request a retry of another: the key and the rest of the request, except the file. */
interface RetryKey {
  key: string
  request: string
}

/**
 * Receives a file and stores its import; nothing is imported yet. A retry of an earlier request gets the response to
 * that one. Unless a new import is stored, no file is left.
 * @param retryKey undefined if the request has no Idempotency-Key.
 * @param onStored is called at the end of the transaction; if it throws, no import is stored.
 * @throws ServiceError as `receiveFile` and `performOnce` do.
 */
export async function createImport(
  services: { secrets: SecretBox; clock: Clock; directory: string },
  { tenant, actor }: { tenant: Tenant; actor: Actor },
  { name, body, decoder, bytes, chosen = {} }: SentFile,
  retryKey?: RetryKey,
  onStored?: (tx: Tenant, file: Uploaded & Proposal) => Promise<void>,
): Promise<{ output: Output; isRepeated: boolean }> {
  if (bytes > FILE_BYTES_MAX) throw fileTooLarge()
  const { clock, secrets, directory } = services
  const importId = newId()
  const fileName = nameOf(name)
  const file = await receiveFile(tenant, body, { importId, fileName, directory, decoder, chosen })
  const now = clock()
  const insert = (memory: Memory = NO_MEMORY) =>
    tenant.transaction(async (tx) => {
      const proposal = await insertImport(tx, { ...file, fileName, actor }, now)
      await onStored?.(tx, { ...file, ...proposal })
      const output = { import: await readImport(tx, importId, now) }
      await memory.store(tx, { output, warnings: [] }, true)
      return output
    })
  try {
    if (retryKey === undefined) return { output: await insert(), isRepeated: false }
    // The file counts as what was sent, so it is received before it is known to be a retry.
    const { key, request } = retryKey
    const sent = `${request}\n${file.sha256}`
    const { output, isRepeated } = await performOnce({ tenant, actor, now, secrets }, { key, sent }, insert)
    if (isRepeated) await deleteFile(fileOf(directory, importId))
    return { output: output as Output, isRepeated }
  } catch (cause) {
    // The connection may be lost after the commit: then the import needs its file.
    const isStored = await importExists(tenant, importId).catch(() => true)
    if (!isStored) await deleteFile(fileOf(directory, importId))
    throw cause
  }
}

/** A file's name without its path. */
function nameOf(name = NAME): string {
  const clean = name
    .replace(/^.*[/\\]/s, '')
    .replace(/\p{Cc}/gu, '')
    .trim()
  return clean === '' ? NAME : clean.toWellFormed()
}
