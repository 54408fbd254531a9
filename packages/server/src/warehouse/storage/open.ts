import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { newId } from '../../platform/ids.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { Transfer } from '../../platform/outbound/transfer.ts'
import { type DestinationRow, secretPlace } from '../destination.ts'
import { openFolder } from './folder.ts'
import { openBucket } from './s3.ts'
import { type Storage, StorageError } from './storage.ts'

export interface StorageDependencies {
  secrets: SecretBox
  storageTransfer: Transfer
  /** null: destinations of the type `folder` are not available. */
  warehouseDirectory: string | null
}

/** Opens the storage of a destination. @throws StorageError, ServiceError 503 `secret_key_missing` */
export function openStorage(
  { secrets, storageTransfer, warehouseDirectory }: StorageDependencies,
  tenantId: string,
  destination: DestinationRow,
): Storage {
  const { destination_id: id, prefix, endpoint, region, bucket, access_key_id, secret_sealed } = destination
  if (destination.type === 'folder') {
    if (warehouseDirectory === null) {
      throw new StorageError('This service no longer exports to folders. Ask the operator to set CDS_WAREHOUSE_DIR.')
    }
    return openFolder(warehouseDirectory, tenantId, prefix)
  }
  if (endpoint === null || region === null || bucket === null || access_key_id === null || secret_sealed === null) {
    throw new StorageError('The destination is incomplete. Delete it and create it again.')
  }
  const secretAccessKey = secrets.open(secret_sealed, secretPlace(tenantId, id))
  return openBucket(
    storageTransfer,
    { endpoint, bucket, prefix },
    { accessKeyId: access_key_id, secretAccessKey, region },
  )
}

/** Writes a small file and deletes it. @throws StorageError */
export async function testStorage(storage: Storage): Promise<void> {
  const path = `test-${newId()}.txt`
  try {
    await storage.write(path, Buffer.from('A test of this export destination. It can be deleted.\n'), 'text/plain')
    await storage.remove(path)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new StorageError(`The storage cannot be reached (${error.code}: ${error.message})`, error)
  }
}
