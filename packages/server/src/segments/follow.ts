import { type EventQuestion, isInsight } from '../conditions/language.ts'
import type { ContactChanges, SegmentFollower } from '../contacts/writing/transaction.ts'
import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { possibleTransitions, queueChecks, queueChecksAfter, queueCompanyChecks } from './check-queue.ts'
import { type Definition, type Definitions, usesEvents } from './definitions.ts'
import { evaluateContacts } from './evaluate-contacts.ts'
import { EventResults, queryEvents } from './events.ts'
import { applyEvaluations, leaveAll } from './membership.ts'
import { deleteMetConditionsOf, storeResults } from './met-conditions.ts'

/** Updates segment memberships in the transactions that change contacts. */
export function createFollower(definitions: Definitions, clock: Clock): SegmentFollower {
  return {
    follow: async (tx, { changed, linked, recorded }) => {
      if (changed.size === 0 && recorded.length === 0) return []
      const now = clock()
      const known = await definitions.of(tx)
      const { contacts, companies } = known
      if (contacts.length === 0 && companies.length === 0) return []
      const contactIds = [...changed.keys()]
      await queueChecksAfter(tx, known, [...recorded, ...possibleTransitions(contactIds)])
      if (contactIds.length === 0) return []
      if (companies.some(usesEvents)) await queueCompanyChecks(tx, linked)
      const affected = contacts.filter((definition) => isAffected(definition, changed))
      const evaluations = await evaluateContacts(tx, affected, contactIds, now, ({ isEvaluated }) => isEvaluated)
      const open = evaluations.filter(({ belongs }) =>
        affected.some(({ segmentId }) => belongs.get(segmentId) === null),
      )
      await queueChecks(tx, [...open.map(({ contactId }) => contactId), ...(contacts.some(usesEvents) ? linked : [])])
      return applyEvaluations(tx, affected, evaluations, now)
    },
    followLater: queueChecks,
    leave: async (tx, contactIds) => {
      await deleteMetConditionsOf(tx, contactIds)
      return leaveAll(tx, contactIds, clock())
    },
  }
}

function isAffected({ reads }: Definition, changes: ContactChanges): boolean {
  for (const changed of changes.values()) {
    if (changed === 'everything' || !reads.isDisjointFrom(changed)) return true
  }
  return false
}

/** Queries every event condition of the tenant for contacts. @throws ServiceError 503 if ClickHouse is down. */
export async function queryConditions(
  tx: Tenant,
  known: readonly Definition[],
  contactIds: readonly string[],
  now: Date,
): Promise<EventResults> {
  const matches = matchesOf(known)
  return matches.length > 0 ? queryEvents(tx, matches, { contactIds }, now) : new EventResults()
}

/**
 * Checks contacts after their events have changed; the caller's transaction has locked their rows.
 * @param results of all event conditions, for at least these contacts.
 */
export async function followEvents(
  tx: Tenant,
  known: readonly Definition[],
  contactIds: readonly string[],
  results: EventResults,
  now: Date,
): Promise<SystemEvent[]> {
  if (contactIds.length === 0 || known.length === 0) return []
  const matches = matchesOf(known)
  if (matches.length > 0) await storeResults(tx, matches, contactIds, results)
  return applyEvaluations(tx, known, await evaluateContacts(tx, known, contactIds, now), now)
}

/**
 * The event conditions of all segments, because later writes to a contact use the results that a check stores. What the
 * number of an insight counts is only brought up to date with the whole segment: it depends on the events of others too.
 */
function matchesOf(known: readonly Definition[]): EventQuestion[] {
  return known.flatMap(({ matches }) => matches.filter((match) => !isInsight(match)))
}
