import { sql } from 'kysely'
import { type ErasureSubject, mentionHint, mentionPattern } from '../erasure/subject.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { storeUnavailable } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import { NO_CONTACT } from './event-record.ts'
import type { Projector } from './projector.ts'

/** Events that mention an address elsewhere than in their contact are removed so many at a time, by their ids. */
const EVENTS_A_DELETE = 1_000
/** Where a person's address may stand in an event; names and ids that the service makes cannot hold one. */
const TEXTS =
  "concat(url, '\\n', referrer, '\\n', title, '\\n', text, '\\n', data, '\\n', class, '\\n', element_id, '\\n', event, '\\n', analytics_user_id, '\\n', visitor_id, '\\n', session_id)"

/** Removes the events of a person, in ClickHouse and on their way there. */
export interface EventEraser {
  /** @returns how many were found. @throws ServiceError 503 when ClickHouse is away: nothing is left out in silence. */
  erase(
    tenantId: string,
    subject: ErasureSubject,
    receivedUntil: Date,
    onFound: (events: number) => Promise<void>,
  ): Promise<{ refused_events: number }>
  /** Has ClickHouse write what remains anew, without what was removed. */
  settle(): Promise<void>
}

interface Dependencies {
  database: Database
  clickhouse: ClickHouse
  /** The table that deletions must name, with ` ON CLUSTER …` where there is one. */
  eventsStorage: string
  projector: Projector
}

export function createEventEraser({ database, clickhouse, eventsStorage, projector }: Dependencies): EventEraser {
  /** What is still in the journal goes where it can be removed: rows of the journal hold the events of many. */
  async function emptyJournal(tenantId: string, { contactId, email }: ErasureSubject): Promise<void> {
    await projector.drain()
    // It may have left rows where they were: with events of the person's visitors, which name neither of these.
    await projector.barrier(tenantId)
    const waiting = await database
      .selectFrom('journal')
      .select('journal_id')
      .where((eb) =>
        eb.or([
          sql<boolean>`strpos(rows, ${contactId}) > 0`,
          ...(email === null ? [] : [sql<boolean>`rows ~* ${mentionPattern(email)}`]),
        ]),
      )
      .limit(1)
      // Whoever has just carried a row clears it away in a moment: that is waited for.
      .forShare()
      .executeTakeFirst()
    if (waiting) throw storeUnavailable('ClickHouse', new Error('the journal still holds events of the contact'))
  }

  async function eraseOwn(tenantId: string, subject: ErasureSubject, receivedUntil: Date): Promise<number> {
    const conditions = `tenant_id = {tenant_id: UUID} AND (contact_id = {contact_id: UUID}
      OR contact_id = toUUID('${NO_CONTACT}') AND visitor_id IN {visitors: Array(String)}
        AND received_at <= parseDateTime64BestEffort({until: String}, 3, 'UTC'))`
    const parameters = {
      tenant_id: tenantId,
      contact_id: subject.contactId,
      visitors: subject.visitorIds,
      until: receivedUntil.toISOString(),
    }
    const [row] = await clickhouse.query<{ count: number }>(
      `SELECT count() AS count FROM events WHERE ${conditions}`,
      parameters,
    )
    const count = Number(row?.count ?? 0)
    if (count > 0) await clickhouse.command(`DELETE FROM ${eventsStorage} WHERE ${conditions}`, parameters)
    return count
  }

  /** Found first and removed by their ids: ClickHouse keeps the text of a deletion, and the address must not stay there. */
  async function eraseMentions(tenantId: string, email: string): Promise<number> {
    let count = 0
    for (;;) {
      const rows = await clickhouse.query<{ event_id: string }>(
        `SELECT event_id FROM events WHERE tenant_id = {tenant_id: UUID}
          AND positionCaseInsensitiveUTF8(${TEXTS}, {hint: String}) > 0
          AND match(${TEXTS}, {pattern: String}) LIMIT ${EVENTS_A_DELETE}`,
        { tenant_id: tenantId, hint: mentionHint(email), pattern: `(?i)${mentionPattern(email)}` },
      )
      if (rows.length === 0) return count
      await clickhouse.command(
        `DELETE FROM ${eventsStorage} WHERE tenant_id = {tenant_id: UUID} AND event_id IN {event_ids: Array(UUID)}`,
        { tenant_id: tenantId, event_ids: rows.map(({ event_id }) => event_id) },
      )
      count += rows.length
    }
  }

  async function eraseRefused(tenantId: string, { contactId, email }: ErasureSubject): Promise<number> {
    const { numDeletedRows } = await database
      .deleteFrom('refused_events')
      .where(sql<boolean>`strpos(row, ${tenantId}) > 0`)
      .where((eb) =>
        eb.or([
          sql<boolean>`strpos(row, ${contactId}) > 0`,
          ...(email === null ? [] : [sql<boolean>`row ~* ${mentionPattern(email)}`]),
        ]),
      )
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  return {
    erase: async (tenantId, subject, receivedUntil, onFound) => {
      await emptyJournal(tenantId, subject)
      await onFound(await eraseOwn(tenantId, subject, receivedUntil))
      if (subject.email !== null) await onFound(await eraseMentions(tenantId, subject.email))
      return { refused_events: await eraseRefused(tenantId, subject) }
    },
    settle: () => clickhouse.command(`ALTER TABLE ${eventsStorage} APPLY DELETED MASK`),
  }
}
