import { call } from '../api/client.ts'
import type { ChangeContactsResult, Entity, SegmentFilter, UnchangedRecord } from '../api/types.ts'

/** Which records to change: by id, at most a hundred, or all that match. */
export type BulkTarget = { ids: string[] } | { matching: BulkMatching }

export interface BulkMatching {
  search?: string
  segment_id?: string
  import_id?: string
  filter?: SegmentFilter
}

export type BulkChange =
  | { set: { properties?: Record<string, unknown>; company_id?: string | null } }
  | { delete: true }

/** The result so far of a change of many records. */
export interface BulkProgress {
  done: number
  failed: UnchangedRecord[]
}

/**
 * Changes records in steps, each of which gets its response once it is done.
 * @param onProgress called after each step; if it returns false, no further step is taken.
 */
export async function changeMany(
  entity: Entity,
  target: BulkTarget,
  change: BulkChange,
  onProgress: (progress: BulkProgress) => boolean,
): Promise<void> {
  const which =
    'matching' in target ? target : entity === 'contacts' ? { contact_ids: target.ids } : { company_ids: target.ids }
  let progress: BulkProgress = { done: 0, failed: [] }
  for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const next = after === null ? {} : { after }
    const result: ChangeContactsResult = await call(entity === 'contacts' ? 'changeContacts' : 'changeCompanies', {
      ...which,
      ...change,
      ...next,
    })
    progress = { done: progress.done + result.done, failed: [...progress.failed, ...result.failed] }
    after = result.next
    if (!onProgress(progress)) return
  }
}
