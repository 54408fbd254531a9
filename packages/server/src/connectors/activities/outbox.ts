import { sql } from 'kysely'
import type { Outbox } from '../../contacts/writing/transaction.ts'
import type { SystemEvent } from '../../journal/append.ts'
import { eventIdOf } from '../../journal/sent-ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { parseTimestamp } from '../../platform/time.ts'
import type { ActivityRead } from '../connector.ts'

/** The text of a note or a mail that an agent's action has stored or sent. */
export interface ExecutedText {
  kind: 'note' | 'email'
  /** null for a note. */
  subject: string | null
  content: string
}

/** Returns the text of an executed action; null if it is neither a note nor a mail. */
export type ReadExecuted = (
  tx: Tenant,
  ref: { runId: string; contactId: string; actionIndex: number },
) => Promise<ExecutedText | null>

/** The subject of an activity, as it is sent. */
export function subjectOf({ kind, subject }: { kind: string; subject: string | null }): string {
  return subject ?? (kind === 'note' ? 'Note from an agent' : 'Email from an agent')
}

/** Adds what agents' actions have done to the outbox of each connection that stores activities. */
export function createActivityOutbox(readExecuted: ReadExecuted): Outbox {
  return {
    note: async (tx, _changed, events) => {
      for (const executed of events) {
        if (executed.event === 'agent_action_executed') await note(tx, readExecuted, executed)
      }
    },
  }
}

async function note(tx: Tenant, readExecuted: ReadExecuted, { contactId, data, at }: SystemEvent): Promise<void> {
  const { run_id: runId, action_index: actionIndex } = data
  if (contactId === null || typeof runId !== 'string' || typeof actionIndex !== 'number') return
  // Their keys are locked, so the connections exist until the commit.
  const connections = await tx.db
    .selectFrom('connections')
    .select(['connection_id', 'source'])
    .where('activities', '=', true)
    .orderBy('connection_id')
    .forKeyShare()
    .execute()
  if (connections.length === 0) return
  const text = await readExecuted(tx, { runId, contactId, actionIndex })
  if (text === null) return
  const rows = connections.map(({ connection_id, source }) => ({
    activity_id: eventIdOf(connection_id, `${runId} ${contactId} ${actionIndex}`),
    connection_id,
    source,
    contact_id: contactId,
    ...text,
    happened_at: at,
  }))
  await tx.db
    .insertInto('connection_activities')
    .values(rows)
    .onConflict((row) => row.columns(['activity_id']).doNothing())
    .execute()
}

/** The number of waiting activities, by connection. */
export async function countActivities(tenant: Tenant, connectionIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tenant.db
    .selectFrom('connection_activities')
    .select(['connection_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where('connection_id', '=', sql<string>`any(${connectionIds}::uuid[])`)
    .where('external_id', 'is', null)
    .groupBy('connection_id')
    .execute()
  return new Map(rows.map(({ connection_id, count }) => [connection_id, Number(count)]))
}

/** Removes what waits for a connection that stores nothing any more. What it has stored stays known. */
export async function dropWaiting(tx: Tenant, connectionId: string): Promise<void> {
  await tx.db
    .deleteFrom('connection_activities')
    .where('connection_id', '=', connectionId)
    .where('external_id', 'is', null)
    .execute()
}

/** An activity that was read, with its contact and time here. */
export interface KnownRead extends ActivityRead {
  contactId: string
  /** ISO 8601. */
  timestamp: string | undefined
}

/**
 * The ids of the activities that the service itself has stored in the system. The result of an attempt in progress is unknown:
 * an activity counts as its result if the contact is the same, and the subject or the time.
 */
export async function storedHere(tenant: Tenant, source: string, read: readonly KnownRead[]): Promise<Set<string>> {
  if (read.length === 0) return new Set()
  const rows = await tenant.db
    .selectFrom('connection_activities')
    .select(['external_id', 'contact_id', 'kind', 'subject', 'happened_at'])
    .where('source', '=', source)
    .where(({ or, and, eb }) =>
      or([
        eb('external_id', '=', sql<string>`any(${read.map(({ id }) => id)}::text[])`),
        and([
          eb('external_id', 'is', null),
          eb('may_be_stored', '=', true),
          eb('contact_id', '=', sql<string>`any(${read.map(({ contactId }) => contactId)}::uuid[])`),
        ]),
      ]),
    )
    .execute()
  const known = new Set(rows.flatMap(({ external_id }) => external_id ?? []))
  const attempted = rows.filter(({ external_id }) => external_id === null)
  const isAttempted = ({ contactId, subject, timestamp }: KnownRead) =>
    attempted.some(
      (row) =>
        row.contact_id === contactId &&
        (subjectOf(row) === subject || row.happened_at.getTime() === parseTimestamp(timestamp ?? '')?.getTime()),
    )
  return new Set(read.filter((each) => known.has(each.id) || isAttempted(each)).map(({ id }) => id))
}
