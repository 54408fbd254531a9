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

const SETTING = sql<string>`md5(account.address || account.settings::text || account.sealed)`

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

/** Takes hold of mailboxes that nobody reads and whose time has come. */
export async function takeMailboxes(database: Database, holder: string, max: number): Promise<HeldMailbox[]> {
  if (max <= 0) return []
  const { rows } = await sql<HeldMailbox>`
    UPDATE mailboxes SET holder = ${holder}, held_until = now() + make_interval(secs => ${HOLD_SECONDS})
    FROM email_accounts AS account
    WHERE (mailboxes.tenant_id, mailboxes.identity_id) IN (
        SELECT tenant_id, identity_id FROM mailboxes
        WHERE next_attempt_at <= now() AND (held_until IS NULL OR held_until < now())
        ORDER BY next_attempt_at LIMIT ${max} FOR UPDATE SKIP LOCKED)
      AND account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
    RETURNING mailboxes.tenant_id AS "tenantId", mailboxes.identity_id AS "identityId", ${SETTING} AS setting`.execute(
    database,
  )
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
