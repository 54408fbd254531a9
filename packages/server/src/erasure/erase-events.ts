import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { type ErasureSubject, mentionHint, mentionPattern } from '../contacts/erasure-subject.ts'
import type { JournalTable } from '../journal/append.ts'
import { deleteRefusedEvents, hasJournalRow } from '../journal/erase.ts'
import type { Projector } from '../journal/projector.ts'
import { deleteLinks } from '../owners/link-owners.ts'
import { ownersOf } from '../owners/owners.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { storeUnavailable } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Other people's events that mention the address are deleted by id, this many per statement. */
const EVENTS_PER_DELETE = 1_000
/** First delay before checking whether a deletion is done; it doubles up to the maximum below. */
const CHECK_AFTER_MS = 20
const CHECK_INTERVAL_MS_MAX = 5_000
/** First delay before the deletion is issued again; it doubles each time. */
const RETRY_AFTER_MS = 2_000
/** Columns in which a person's address may occur; names and ids that the service generates cannot contain one. */
const TEXTS =
  "concat(url, '\\n', referrer, '\\n', title, '\\n', text, '\\n', data, '\\n', class, '\\n', element_id, '\\n', event, '\\n', analytics_user_id, '\\n', visitor_id, '\\n', session_id)"

/** Deletes the events of a person from ClickHouse and the journal. */
export interface EventEraser {
  /**
   * @returns the number of events found. @throws ServiceError 503 if ClickHouse is down, so that nothing is skipped
   * silently.
   */
  erase(
    tenant: Tenant,
    subject: ErasureSubject,
    onFound: (events: number) => Promise<void>,
  ): Promise<{ refused_events: number }>
  /** Deletes the links of the events' owners. */
  deleteLinks(tenant: Tenant, contactId: string): Promise<void>
}

export function createEventEraser({
  database,
  clickhouse,
  storage,
  projector,
}: {
  database: Database
  clickhouse: ClickHouse
  /** The tables that deletions must name, with ` ON CLUSTER …` if there is a cluster. */
  storage: Record<JournalTable, string>
  projector: Projector
}): EventEraser {
  /**
   * Projects the rest of the journal to ClickHouse, where single events can be deleted: a journal row has the events of
   * many people.
   */
  async function emptyJournal(tenantId: string, owners: string[], { email }: ErasureSubject): Promise<void> {
    await projector.drain()
    // Events of the person's visitors contain neither the id nor the address, so rows with them may remain.
    await projector.barrier(tenantId)
    if (await hasJournalRow(database, concerns('rows', owners, email)))
      throw storeUnavailable('ClickHouse', new Error('the journal still has events of the contact'))
  }

  /** Other people's events that mention the person's address. */
  async function eventsMentioning(tenantId: string, email: string, owners: string[]): Promise<string[]> {
    const rows = await clickhouse.query<{ event_id: string }>(
      `SELECT event_id FROM events WHERE tenant_id = {tenant_id: UUID} AND owner_id NOT IN {owners: Array(UUID)}
        AND positionCaseInsensitiveUTF8(${TEXTS}, {hint: String}) > 0
        AND match(${TEXTS}, {pattern: String}) LIMIT ${EVENTS_PER_DELETE}`,
      { tenant_id: tenantId, owners, hint: mentionHint(email), pattern: `(?i)${mentionPattern(email)}` },
    )
    return rows.map(({ event_id }) => event_id)
  }

  /**
   * Deletes by id, because ClickHouse stores the text of a deletion, which must not contain the address.
   */
  async function eraseEvents(tenantId: string, owners: string[], email: string | null): Promise<number> {
    let erased = 0
    for (;;) {
      const mentions = email === null ? [] : await eventsMentioning(tenantId, email, owners)
      const conditions = `tenant_id = {tenant_id: UUID}
        AND (owner_id IN {owners: Array(UUID)} OR event_id IN {event_ids: Array(UUID)})`
      const removed = await remove('events', conditions, { tenant_id: tenantId, owners, event_ids: mentions })
      erased += removed
      if (mentions.length < EVENTS_PER_DELETE) return erased
    }
  }

  /**
   * Deletes rows with a mutation, which rewrites their parts: a lightweight deletion would leave them in the projections.
   * It takes minutes for many millions of events, so no connection waits for it. It is issued repeatedly, because an
   * operator may kill it and it does not include rows that arrive later.
   * @returns the number of rows deleted.
   */
  async function remove(table: JournalTable, conditions: string, parameters: QueryParameters): Promise<number> {
    const count = async () => {
      const sql = `SELECT count() AS count FROM ${table} WHERE ${conditions}`
      const [row] = await clickhouse.query<{ count: number }>(sql, parameters)
      return Number(row?.count ?? 0)
    }
    const found = await count()
    if (found === 0) return 0
    const deletion = `ALTER TABLE ${storage[table]} DELETE WHERE ${conditions} SETTINGS mutations_sync = 0`
    let [waited, issueAt, retryAfter] = [0, 0, RETRY_AFTER_MS]
    for (
      let pause = CHECK_AFTER_MS;
      waited === 0 || (await count()) > 0;
      pause = Math.min(2 * pause, CHECK_INTERVAL_MS_MAX)
    ) {
      if (waited >= issueAt) {
        await clickhouse.command(deletion, parameters)
        issueAt = waited + retryAfter
        retryAfter *= 2
      }
      await sleep(pause)
      waited += pause
    }
    return found
  }

  async function eraseRefused(tenantId: string, owners: string[], { email }: ErasureSubject): Promise<number> {
    const ofTenant = sql<boolean>`strpos(row, ${tenantId}) > 0`
    return deleteRefusedEvents(database, sql<boolean>`${ofTenant} AND ${concerns('row', owners, email)}`)
  }

  return {
    erase: async (tenant, subject, onFound) => {
      const owners = await ownersOf(tenant, [subject.contactId])
      await emptyJournal(tenant.id, owners, subject)
      await onFound(await eraseEvents(tenant.id, owners, subject.email))
      return { refused_events: await eraseRefused(tenant.id, owners, subject) }
    },
    deleteLinks: async (tenant, contactId) => {
      // ClickHouse may still have earlier versions, from when the owners belonged to another contact.
      const owners = await ownersOf(tenant, [contactId])
      const conditions = `tenant_id = {tenant_id: UUID}
        AND (contact_id = {contact_id: UUID} OR owner_id IN {owners: Array(UUID)})`
      await remove('owner_links', conditions, { tenant_id: tenant.id, contact_id: contactId, owners })
      await deleteLinks(tenant, contactId)
    },
  }
}

/** The condition that a column contains one of a person's ids or the address. */
function concerns(column: 'row' | 'rows', owners: readonly string[], email: string | null): RawBuilder<boolean> {
  const named = sql<boolean>`EXISTS (
    SELECT FROM unnest(${[...owners]}::text[]) AS owner WHERE strpos(${sql.ref(column)}, owner) > 0)`
  return email === null ? named : sql`(${named} OR ${sql.ref(column)} ~* ${mentionPattern(email)})`
}
