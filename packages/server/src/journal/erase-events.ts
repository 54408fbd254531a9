import { type RawBuilder, sql } from 'kysely'
import { type ErasureSubject, mentionHint, mentionPattern } from '../erasure/subject.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { storeUnavailable } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { ownersOf } from '../visitors/owners.ts'
import type { JournalTable } from './append.ts'
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
    tenant: Tenant,
    subject: ErasureSubject,
    onFound: (events: number) => Promise<void>,
  ): Promise<{ refused_events: number }>
  /** Forgets whose the events were. */
  forgetLinks(tenant: Tenant, contactId: string): Promise<void>
}

interface Dependencies {
  database: Database
  clickhouse: ClickHouse
  /** The tables that deletions must name, with ` ON CLUSTER …` where there is one. */
  storage: Record<JournalTable, string>
  projector: Projector
}

export function createEventEraser({ database, clickhouse, storage, projector }: Dependencies): EventEraser {
  /** What is still in the journal goes where it can be removed: rows of the journal hold the events of many. */
  async function emptyJournal(tenantId: string, owners: string[], { email }: ErasureSubject): Promise<void> {
    await projector.drain()
    // It may have left rows where they were: with events of the person's visitors, which name neither of these.
    await projector.barrier(tenantId)
    const waiting = await database
      .selectFrom('journal')
      .select('journal_id')
      .where(concerns('rows', owners, email))
      .limit(1)
      // Whoever has just carried a row clears it away in a moment: that is waited for.
      .forShare()
      .executeTakeFirst()
    if (waiting) throw storeUnavailable('ClickHouse', new Error('the journal still holds events of the contact'))
  }

  async function eraseOwn(tenantId: string, owners: string[]): Promise<number> {
    const conditions = 'tenant_id = {tenant_id: UUID} AND owner_id IN {owners: Array(UUID)}'
    const parameters = { tenant_id: tenantId, owners }
    const [row] = await clickhouse.query<{ count: number }>(
      `SELECT count() AS count FROM events WHERE ${conditions}`,
      parameters,
    )
    const count = Number(row?.count ?? 0)
    if (count > 0) await clickhouse.command(deletion(storage.events, conditions), parameters)
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
        deletion(storage.events, 'tenant_id = {tenant_id: UUID} AND event_id IN {event_ids: Array(UUID)}'),
        { tenant_id: tenantId, event_ids: rows.map(({ event_id }) => event_id) },
      )
      count += rows.length
    }
  }

  async function eraseRefused(tenantId: string, owners: string[], { email }: ErasureSubject): Promise<number> {
    const { numDeletedRows } = await database
      .deleteFrom('refused_events')
      .where(sql<boolean>`strpos(row, ${tenantId}) > 0`)
      .where(concerns('row', owners, email))
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  return {
    erase: async (tenant, subject, onFound) => {
      const owners = await ownersOf(tenant, [subject.contactId])
      await emptyJournal(tenant.id, owners, subject)
      await onFound(await eraseOwn(tenant.id, owners))
      if (subject.email !== null) await onFound(await eraseMentions(tenant.id, subject.email))
      return { refused_events: await eraseRefused(tenant.id, owners, subject) }
    },
    forgetLinks: async (tenant, contactId) => {
      await clickhouse.command(
        deletion(storage.owner_links, 'tenant_id = {tenant_id: UUID} AND contact_id = {contact_id: UUID}'),
        { tenant_id: tenant.id, contact_id: contactId },
      )
      await tenant.db.deleteFrom('owner_links').where('contact_id', '=', contactId).execute()
    },
  }
}

/** The condition that a text names one of a person's ids, or the address. */
function concerns(column: 'row' | 'rows', owners: readonly string[], email: string | null): RawBuilder<boolean> {
  const named = sql<boolean>`EXISTS (
    SELECT FROM unnest(${[...owners]}::text[]) AS owner WHERE strpos(${sql.ref(column)}, owner) > 0)`
  return email === null ? named : sql`(${named} OR ${sql.ref(column)} ~* ${mentionPattern(email)})`
}

/** Writes the parts that hold such rows anew, without them: a lightweight deletion would leave them in the projections. */
function deletion(table: string, conditions: string): string {
  return `ALTER TABLE ${table} DELETE WHERE ${conditions} SETTINGS mutations_sync = 2`
}
