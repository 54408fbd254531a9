import { jobQueue } from '../platform/jobs/jobs.ts'
import { HOUR_SECONDS } from '../platform/time.ts'

/** The state of an import determines what its job does. The job is retried until the import ends: each attempt continues the last. */
const OPTIONS = {
  retryLimit: 1_000,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  heartbeatSeconds: 60,
  expireInSeconds: 12 * HOUR_SECONDS,
} as const

/** Writes the contacts of a file, or undoes it. */
export const IMPORT = jobQueue<{ importId: string }>('import-contacts', OPTIONS)
/** Computes what an import would do: in a queue of its own, because a person is waiting for it. */
export const PREVIEW = jobQueue<{ importId: string }>('preview-import', OPTIONS)
/** Files up to this size, about 50,000 rows, take seconds. */
const SMALL_BYTES_MAX = 5_000_000
export const SMALL = 1
/** How urgent the job of an import is: small files do not wait behind large ones. */
export const priorityOf = (sizeBytes: number) => (sizeBytes <= SMALL_BYTES_MAX ? SMALL : 0)

/** Deletes the file of an import, and what undoing it needs. */
export const EXPIRE_IMPORT = jobQueue<{ importId: string }>('expire-import', { retryLimit: 20, retryDelay: 60 })
