import type { SystemEvent } from '../journal/append.ts'
import { addMembers, type Membership, removeFromAll, removeMembers } from '../memberships/memberships.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Definition } from './definitions.ts'
import type { ContactEvaluation } from './evaluate-contacts.ts'
import { namesOfSegments } from './segments.ts'

/**
 * Corrects memberships. Call it in a transaction that has locked the contacts' rows.
 * @returns an event for each contact that actually entered or left a segment.
 */
export async function applyEvaluations(
  tx: Tenant,
  definitions: readonly Definition[],
  evaluations: readonly ContactEvaluation[],
  now: Date,
): Promise<SystemEvent[]> {
  const entering: Membership[] = []
  const leaving: Membership[] = []
  // Sorted by segment, so that two transactions update the counters in the same order.
  for (const { segmentId } of definitions) {
    for (const { contactId, memberOf, belongs } of evaluations) {
      const should = belongs.get(segmentId)
      if (should === true && !memberOf.has(segmentId)) entering.push({ segmentId, contactId })
      if (should === false && memberOf.has(segmentId)) leaving.push({ segmentId, contactId })
    }
  }
  const names = new Map(definitions.map(({ segmentId, name }) => [segmentId, name]))
  const toEvent =
    (event: 'segment_entered' | 'segment_exited') =>
    ({ segmentId, contactId }: Membership): SystemEvent => ({
      event,
      at: now,
      contactId,
      data: { segment_id: segmentId, segment_name: names.get(segmentId) ?? null },
    })
  const entered = await addMembers(tx, entering, now)
  const left = await removeMembers(tx, leaving)
  return [...entered.map(toEvent('segment_entered')), ...left.map(toEvent('segment_exited'))]
}

/** Removes contacts from every segment. @returns the events. */
export async function leaveAll(tx: Tenant, contactIds: readonly string[], now: Date): Promise<SystemEvent[]> {
  const left = await removeFromAll(tx, contactIds)
  if (left.length === 0) return []
  const names = await namesOfSegments(tx, [...new Set(left.map(({ segmentId }) => segmentId))])
  return left.map(({ segmentId, contactId }) => ({
    event: 'segment_exited',
    at: now,
    contactId,
    data: { segment_id: segmentId, segment_name: names.get(segmentId) ?? null },
  }))
}
