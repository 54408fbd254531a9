import type { BulkAnswer } from '../../../server/src/bulk/change-each.ts'
import type { PropertyChanges } from '../../../server/src/contacts/properties.ts'
import { send } from './client.ts'
import type { SegmentFilter } from './segments.ts'

export type Entity = 'contacts' | 'companies'
export type BulkFailure = BulkAnswer['failed'][number]

/** Which records to change: by id, at most a hundred, or all that match. */
export type BulkTarget = { ids: readonly string[] } | { matching: BulkMatching }

export interface BulkMatching {
  search?: string
  segment_id?: string
  import_id?: string
  filter?: SegmentFilter
}

export type BulkChange = { set: { properties?: PropertyChanges; company_id?: string | null } } | { delete: true }

/** The result so far of a change of many records. */
export interface BulkProgress {
  done: number
  failed: BulkFailure[]
}

/**
 * Changes records in steps, each of which the service answers once it is done.
 * @param onProgress called after each step; if it returns false, no further step is taken.
 */
export async function changeMany(
  entity: Entity,
  target: BulkTarget,
  change: BulkChange,
  onProgress: (progress: BulkProgress) => boolean,
): Promise<void> {
  const ids = entity === 'contacts' ? 'contact_ids' : 'company_ids'
  const which = 'ids' in target ? { [ids]: target.ids } : { matching: target.matching }
  let progress: BulkProgress = { done: 0, failed: [] }
  for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const answer: BulkAnswer = await send<BulkAnswer>('POST', `/v1/${entity}/bulk`, {
      ...which,
      ...change,
      ...(after === null ? {} : { after }),
    })
    progress = { done: progress.done + answer.done, failed: [...progress.failed, ...answer.failed] }
    after = answer.next
    if (!onProgress(progress)) return
  }
}
