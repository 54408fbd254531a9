import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { possibleWays, queueChecks, queueChecksAfter, type RecordedEvent } from './check-queue.ts'
import type { Definition, Definitions } from './definitions.ts'
import { askEvents } from './events.ts'
import { forgetHolder, storeAnswers } from './holders.ts'
import { judge } from './judge.ts'
import { applyJudgements, leaveAll } from './membership.ts'

/** What a transaction has changed of contacts, by contact: properties and columns, or everything. */
export type ContactChanges = ReadonlyMap<string, ReadonlySet<string> | 'everything'>

/** What a transaction has done, as far as segments may ask for it. */
interface Followed {
  changed: ContactChanges
  /** Those among the changed contacts that were given visitors, whose earlier events are theirs from the commit on. */
  linked: ReadonlySet<string>
  recorded: readonly RecordedEvent[]
}

/** Keeps memberships in step with the contacts, in the transactions that change them. */
export interface SegmentFollower {
  /**
   * Looks at the segments of contacts that have changed; the caller's transaction holds their rows. ClickHouse is not
   * asked: what is known of events is right, because every new event has its contact checked, those that this
   * transaction records too.
   * @returns the events that tell of who entered and who left.
   */
  follow(tx: Tenant, followed: Followed): Promise<SystemEvent[]>
  /** The same for a contact that is about to be deleted. */
  leave(tx: Tenant, contactId: string): Promise<SystemEvent[]>
}

export function createFollower(definitions: Definitions, clock: Clock): SegmentFollower {
  return {
    follow: async (tx, { changed, linked, recorded }) => {
      if (changed.size === 0 && recorded.length === 0) return []
      const now = clock()
      const known = await definitions.of(tx)
      if (known.length === 0) return []
      const contactIds = [...changed.keys()]
      await queueChecksAfter(tx, known, [...recorded, ...possibleWays(contactIds)])
      if (contactIds.length === 0) return []
      const affected = known.filter((definition) => isAffected(definition, changed))
      const judgements = await judge(tx, affected, contactIds, now, ({ isEvaluated }) => isEvaluated)
      const open = judgements.filter(({ belongs }) => affected.some(({ segmentId }) => belongs.get(segmentId) === null))
      const asksEvents = known.some(({ matches }) => matches.length > 0)
      await queueChecks(tx, [...open.map(({ contactId }) => contactId), ...(asksEvents ? linked : [])])
      return applyJudgements(tx, affected, judgements, now)
    },
    leave: async (tx, contactId) => {
      await forgetHolder(tx, contactId)
      return leaveAll(tx, contactId, clock())
    },
  }
}

function isAffected({ reads }: Definition, changes: ContactChanges): boolean {
  for (const changed of changes.values()) {
    if (changed === 'everything' || !reads.isDisjointFrom(changed)) return true
  }
  return false
}

/**
 * Looks at contacts again when their events have changed; the caller's transaction holds their rows.
 * @throws ServiceError 503 when ClickHouse is away.
 */
export async function followEvents(
  tx: Tenant,
  known: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
): Promise<SystemEvent[]> {
  if (contactIds.length === 0 || known.length === 0) return []
  // All of them: the contact's writes are judged by what is written down here.
  const matches = known.flatMap((definition) => definition.matches)
  if (matches.length > 0) {
    await storeAnswers(tx, matches, contactIds, await askEvents(tx, matches, { contactIds }, now))
  }
  return applyJudgements(tx, known, await judge(tx, known, contactIds, now), now)
}
