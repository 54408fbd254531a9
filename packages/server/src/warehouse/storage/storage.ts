import { ServiceError } from '../../platform/errors.ts'

/** Where files are written. Paths are relative to the destination's place, with / between names. */
export interface Storage {
  /** Writes a file whole; another one of this name is replaced. @throws StorageError, OutboundError */
  write(path: string, bytes: Buffer, contentType: string, signal?: AbortSignal): Promise<void>
  remove(path: string): Promise<void>
}

/** The storage refused, or cannot be used. The message is for the tenant and contains no secret. */
export class StorageError extends ServiceError {
  constructor(message: string, cause?: unknown) {
    super(422, 'storage_refused', message, cause === undefined ? {} : { cause })
  }
}
