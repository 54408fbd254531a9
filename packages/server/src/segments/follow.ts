import type { ContactChanges, SegmentFollower } from '../contacts/change-log.ts'
import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { possibleWays, queueChecks, queueChecksAfter } from './check-queue.ts'
import type { Definition, Definitions } from './definitions.ts'
import { askEvents } from './events.ts'
import { forgetHolder, storeAnswers } from './holders.ts'
import { judge } from './judge.ts'
import { applyJudgements, leaveAll } from './membership.ts'

/** Updates segment memberships in the transactions that change contacts. */
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
 * Checks contacts after their events have changed; the caller's transaction has locked their rows.
 * @throws ServiceError 503 if ClickHouse is down.
 */
export async function followEvents(
  tx: Tenant,
  known: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
): Promise<SystemEvent[]> {
  if (contactIds.length === 0 || known.length === 0) return []
  // All segments, because later writes to the contact use the results stored here.
  const matches = known.flatMap((definition) => definition.matches)
  if (matches.length > 0) {
    await storeAnswers(tx, matches, contactIds, await askEvents(tx, matches, { contactIds }, now))
  }
  return applyJudgements(tx, known, await judge(tx, known, contactIds, now), now)
}
