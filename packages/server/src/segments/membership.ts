import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Definition } from './definitions.ts'
import type { ContactEvaluation } from './evaluate-contacts.ts'

/** Rows per statement: the number of parameters is limited, and a row has four. */
const ROWS_PER_STATEMENT = 2_000

interface Pair {
  segmentId: string
  contactId: string
}

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
  const entering: Pair[] = []
  const leaving: Pair[] = []
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
    ({ segmentId, contactId }: Pair): SystemEvent => ({
      event,
      at: now,
      contactId,
      data: { segment_id: segmentId, segment_name: names.get(segmentId) ?? null },
    })
  const entered = await inParts(entering, (pairs) => insertMembers(tx, pairs, now))
  const left = await inParts(leaving, (pairs) => deleteMembers(tx, pairs))
  return [...entered.map(toEvent('segment_entered')), ...left.map(toEvent('segment_exited'))]
}

/** Removes contacts from every segment. @returns the events. */
export async function leaveAll(tx: Tenant, contactIds: readonly string[], now: Date): Promise<SystemEvent[]> {
  const rows = await tx.db
    .deleteFrom('segment_members')
    .using('segments')
    .whereRef('segments.segment_id', '=', 'segment_members.segment_id')
    .where('segment_members.contact_id', 'in', contactIds)
    .returning(['segment_members.contact_id', 'segments.segment_id', 'segments.name'])
    .execute()
  return rows.map(({ contact_id, segment_id, name }) => ({
    event: 'segment_exited',
    at: now,
    contactId: contact_id,
    data: { segment_id, segment_name: name },
  }))
}

async function insertMembers(tx: Tenant, pairs: readonly Pair[], now: Date): Promise<Pair[]> {
  const rows = await tx.db
    .insertInto('segment_members')
    .values(
      pairs.map(({ segmentId, contactId }) => ({ segment_id: segmentId, contact_id: contactId, entered_at: now })),
    )
    .onConflict((row) => row.columns(['segment_id', 'contact_id']).doNothing())
    .returning(['segment_id', 'contact_id'])
    .execute()
  return rows.map((row) => ({ segmentId: row.segment_id, contactId: row.contact_id }))
}

async function deleteMembers(tx: Tenant, pairs: readonly Pair[]): Promise<Pair[]> {
  const rows = await tx.db
    .deleteFrom('segment_members')
    .where((eb) =>
      eb(
        eb.refTuple('segment_id', 'contact_id'),
        'in',
        pairs.map(({ segmentId, contactId }) => eb.tuple(segmentId, contactId)),
      ),
    )
    .returning(['segment_id', 'contact_id'])
    .execute()
  return rows.map((row) => ({ segmentId: row.segment_id, contactId: row.contact_id }))
}

async function inParts(pairs: readonly Pair[], write: (part: readonly Pair[]) => Promise<Pair[]>): Promise<Pair[]> {
  const written: Pair[] = []
  for (let from = 0; from < pairs.length; from += ROWS_PER_STATEMENT) {
    written.push(...(await write(pairs.slice(from, from + ROWS_PER_STATEMENT))))
  }
  return written
}
