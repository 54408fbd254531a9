import { sql } from 'kysely'
import type { Database } from '../../platform/postgres/database.ts'

/** A mailbox whose holder does not renew its hold for so long is free: its process is gone. */
export const HOLD_SECONDS = 60

/** A mailbox, with what tells one setting of its account from the next. */
export interface HeldMailbox {
  tenantId: string
  identityId: string
  setting: string
}

/** Not of the secrets: a renewed access token is no other setting. */
const SETTING = sql<string>`md5(account.address || account.settings::text || extract(epoch FROM account.updated_at))`

/**
 * Brings the list of mailboxes in step with the accounts that receive. Those that are gone went with their accounts; one
 * that failed and has been set anew need not wait.
 */
export async function listMailboxes(database: Database): Promise<void> {
  await sql`
    INSERT INTO mailboxes (tenant_id, identity_id, state, next_attempt_at)
    SELECT tenant_id, identity_id, 'waiting', now() FROM email_accounts AS account
    WHERE jsonb_typeof(settings -> 'imap') = 'object'
      AND NOT EXISTS (SELECT FROM mailboxes AS known
        WHERE known.tenant_id = account.tenant_id AND known.identity_id = account.identity_id)
    ON CONFLICT DO NOTHING`.execute(database)
  await sql`
    UPDATE mailboxes SET next_attempt_at = now(), failures = 0, failed_setting = NULL
    FROM email_accounts AS account
    WHERE account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
      AND failed_setting IS NOT NULL AND failed_setting <> ${SETTING}`.execute(database)
  await sql`
    DELETE FROM mailboxes USING email_accounts AS account
    WHERE account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
      AND jsonb_typeof(account.settings -> 'imap') IS DISTINCT FROM 'object'`.execute(database)
}

const IS_FREE = sql`mailboxes.next_attempt_at <= now() AND (mailboxes.held_until IS NULL OR mailboxes.held_until < now())`

/**
 * What a holder reads or could read, each with its turn: the first of every tenant comes before the second of any. What it
 * reads already comes before what waits, so that nothing is let go for a mailbox whose turn is the same.
 */
function turnsOf(holder: string) {
  return sql`
    SELECT tenant_id, identity_id, is_held, next_attempt_at,
      row_number() OVER (PARTITION BY tenant_id ORDER BY is_held DESC, next_attempt_at, identity_id) AS turn
    FROM (
      SELECT tenant_id, identity_id, next_attempt_at,
        holder IS NOT DISTINCT FROM ${holder} AND held_until >= now() AS is_held
      FROM mailboxes WHERE (holder = ${holder} AND held_until >= now()) OR (${IS_FREE})) AS readable`
}

/** Takes hold of mailboxes that nobody reads and whose time has come, in turn for their tenants. */
export async function takeMailboxes(database: Database, holder: string, max: number): Promise<HeldMailbox[]> {
  if (max <= 0) return []
  const { rows } = await sql<HeldMailbox>`
    UPDATE mailboxes SET holder = ${holder}, held_until = now() + make_interval(secs => ${HOLD_SECONDS})
    FROM email_accounts AS account
    WHERE (mailboxes.tenant_id, mailboxes.identity_id) IN (
        SELECT tenant_id, identity_id FROM mailboxes JOIN (${turnsOf(holder)}) AS turns USING (tenant_id, identity_id)
        WHERE NOT is_held AND ${IS_FREE}
        ORDER BY turn, turns.next_attempt_at LIMIT ${max} FOR UPDATE OF mailboxes SKIP LOCKED)
      AND account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
    RETURNING mailboxes.tenant_id AS "tenantId", mailboxes.identity_id AS "identityId", ${SETTING} AS setting`.execute(
    database,
  )
  return rows
}

/** What a holder of `max` mailboxes has to let go, so that a tenant that waits can have its share. */
export async function overShare(
  database: Database,
  holder: string,
  max: number,
): Promise<Pick<HeldMailbox, 'tenantId' | 'identityId'>[]> {
  const { rows } = await sql<Pick<HeldMailbox, 'tenantId' | 'identityId'>>`
    SELECT tenant_id AS "tenantId", identity_id AS "identityId" FROM (
      SELECT *, row_number() OVER (ORDER BY turn, is_held DESC, next_attempt_at) AS place
      FROM (${turnsOf(holder)}) AS turns) AS placed
    WHERE is_held AND place > ${max}`.execute(database)
  return rows
}

/** Renews a holder's hold. @returns what it still holds; what is missing is another's, or gone. */
export async function renewHold(database: Database, holder: string): Promise<HeldMailbox[]> {
  const { rows } = await sql<HeldMailbox>`
    UPDATE mailboxes SET held_until = now() + make_interval(secs => ${HOLD_SECONDS})
    FROM email_accounts AS account
    WHERE holder = ${holder} AND held_until >= now()
      AND account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
    RETURNING mailboxes.tenant_id AS "tenantId", mailboxes.identity_id AS "identityId", ${SETTING} AS setting`.execute(
    database,
  )
  return rows
}

/** Says how it goes; says nothing where another process has taken over. */
export async function noteState(
  database: Database,
  holder: string,
  { tenantId, identityId }: HeldMailbox,
  state: 'connecting' | 'reading' | 'watching',
): Promise<void> {
  const isWell = state === 'watching'
  await sql`
    UPDATE mailboxes SET state = ${state},
      error = CASE WHEN ${isWell}::boolean THEN NULL ELSE error END,
      failures = CASE WHEN ${isWell}::boolean THEN 0 ELSE failures END,
      synced_at = CASE WHEN ${isWell}::boolean THEN now() ELSE synced_at END,
      connected_at = CASE WHEN ${state === 'reading'}::boolean AND state = 'connecting' THEN now() ELSE connected_at END
    WHERE tenant_id = ${tenantId} AND identity_id = ${identityId} AND holder = ${holder}`.execute(database)
}

/** Lets go of a mailbox that failed, until it is tried again: after longer and longer, and never all at one moment. */
export async function noteFailure(
  database: Database,
  holder: string,
  { tenantId, identityId, setting }: HeldMailbox,
  { error, firstDelaySeconds }: { error: string; firstDelaySeconds: number },
): Promise<void> {
  await sql`
    UPDATE mailboxes SET state = 'failed', error = ${error}, failures = failures + 1,
      failed_setting = ${setting}, holder = NULL, held_until = NULL,
      next_attempt_at = now() + make_interval(
        secs => least(900, ${firstDelaySeconds}::float8 * 2 ^ least(failures, 20)) * (0.75 + random() / 2))
    WHERE tenant_id = ${tenantId} AND identity_id = ${identityId} AND holder = ${holder}`.execute(database)
}

/** Lets go of a mailbox at once, for whoever comes next. */
export async function letGo(database: Database, holder: string, { tenantId, identityId }: HeldMailbox): Promise<void> {
  await sql`
    UPDATE mailboxes SET state = 'waiting', holder = NULL, held_until = NULL, next_attempt_at = now()
    WHERE tenant_id = ${tenantId} AND identity_id = ${identityId} AND holder = ${holder}`.execute(database)
}
