import { ServiceError } from '../../platform/errors.ts'

/** A place to write files to. Paths are relative to the destination's place, with / between names. */
export interface Storage {
  /** Writes a whole file. It replaces a file with the same name. @throws StorageError, OutboundError */
  write(path: string, bytes: Buffer, contentType: string, signal?: AbortSignal): Promise<void>
  remove(path: string): Promise<void>
}

/** The storage refused a request or cannot be used. The message is for the tenant and contains no secret. */
export class StorageError extends ServiceError {
  constructor(message: string, cause?: unknown) {
    super(422, 'storage_refused', message, cause === undefined ? {} : { cause })
  }
}
