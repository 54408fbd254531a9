import { sql } from 'kysely'
import { MAIL_ACCOUNTS } from '../../identities/email-account.ts'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { isClaimed, isFree, leaseEnd, RELEASED } from '../../platform/postgres/lease.ts'
import type { Stores } from '../../platform/tenant.ts'

/**
 * A claimed mailbox. `setting` is a digest of its account's settings: an account whose access has ended waits, and is tried
 * again as soon as it has been repaired.
 */
export interface ClaimedMailbox {
  tenantId: string
  identityId: string
  setting: string
}

/**
 * Adds and removes mailboxes to match the accounts with IMAP. Mailboxes of deleted accounts are deleted by the foreign
 * key. A failed mailbox whose account was set again becomes due immediately.
 */
export async function syncWithAccounts(database: Database): Promise<void> {
  await sql`
    INSERT INTO mailboxes (tenant_id, identity_id, state, next_attempt_at)
    SELECT tenant_id, identity_id, 'waiting', now() FROM ${MAIL_ACCOUNTS} AS account
    WHERE has_imap
      AND NOT EXISTS (SELECT FROM mailboxes AS known
        WHERE known.tenant_id = account.tenant_id AND known.identity_id = account.identity_id)
    ON CONFLICT DO NOTHING`.execute(database)
  await sql`
    UPDATE mailboxes SET next_attempt_at = now(), failures = 0, failed_setting = NULL
    FROM ${MAIL_ACCOUNTS} AS account
    WHERE account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
      AND failed_setting IS NOT NULL AND failed_setting <> account.setting`.execute(database)
  await sql`
    DELETE FROM mailboxes USING ${MAIL_ACCOUNTS} AS account
    WHERE account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
      AND NOT account.has_imap`.execute(database)
}

/** The longest pause between two attempts. Jitter makes it up to a quarter shorter or longer. */
const RETRY_SECONDS_MAX = 900
/** How often the pause doubles at most. Without this limit, the power of a mailbox that fails for weeks would overflow. */
const DOUBLINGS_MAX = 20

const IS_DUE = sql`mailboxes.next_attempt_at <= now() AND ${isFree}`

/**
 * The mailboxes that a process has claimed or could claim, ranked: the first of every tenant comes before the second of
 * any. Claimed ones come before free ones, so that none is released for a mailbox of equal rank.
 */
function rankedMailboxes(claim: string) {
  return sql`
    SELECT tenant_id, identity_id, is_claimed, next_attempt_at,
      row_number() OVER (PARTITION BY tenant_id ORDER BY is_claimed DESC, next_attempt_at, identity_id) AS tenant_rank
    FROM (
      SELECT tenant_id, identity_id, next_attempt_at,
        claim IS NOT DISTINCT FROM ${claim} AND claimed_until >= now() AS is_claimed
      FROM mailboxes WHERE (${isClaimed(claim)} AND claimed_until >= now()) OR (${IS_DUE})) AS readable`
}

/** Claims free mailboxes that are due, by rank. */
export async function claimMailboxes(
  { database, closed }: Pick<Stores, 'database' | 'closed'>,
  claim: string,
  max: number,
): Promise<ClaimedMailbox[]> {
  if (max <= 0) return []
  const { rows } = await sql<ClaimedMailbox>`
    UPDATE mailboxes SET claim = ${claim}, claimed_until = ${leaseEnd('mailbox')}
    FROM ${MAIL_ACCOUNTS} AS account
    WHERE (mailboxes.tenant_id, mailboxes.identity_id) IN (
        SELECT tenant_id, identity_id FROM mailboxes JOIN (${rankedMailboxes(claim)}) AS ranked USING (tenant_id, identity_id)
        WHERE NOT is_claimed AND ${IS_DUE} AND ${isOfOpenTenant({ closed })}
        ORDER BY tenant_rank, ranked.next_attempt_at LIMIT ${max} FOR UPDATE OF mailboxes SKIP LOCKED)
      AND account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
    RETURNING mailboxes.tenant_id AS "tenantId", mailboxes.identity_id AS "identityId", account.setting`.execute(
    database,
  )
  return rows
}

/** The claimed mailboxes that a process limited to `max` must release, so that waiting tenants get their share. */
export async function mailboxesOverShare(
  database: Database,
  claim: string,
  max: number,
): Promise<Pick<ClaimedMailbox, 'tenantId' | 'identityId'>[]> {
  const { rows } = await sql<Pick<ClaimedMailbox, 'tenantId' | 'identityId'>>`
    SELECT tenant_id AS "tenantId", identity_id AS "identityId" FROM (
      SELECT *, row_number() OVER (ORDER BY tenant_rank, is_claimed DESC, next_attempt_at) AS overall_rank
      FROM (${rankedMailboxes(claim)}) AS ranked) AS ranked_overall
    WHERE is_claimed AND overall_rank > ${max}`.execute(database)
  return rows
}

/** Renews the claim of a process. @returns the mailboxes that it still claims. */
export async function renewMailboxes(database: Database, claim: string): Promise<ClaimedMailbox[]> {
  const { rows } = await sql<ClaimedMailbox>`
    UPDATE mailboxes SET claimed_until = ${leaseEnd('mailbox')}
    FROM ${MAIL_ACCOUNTS} AS account
    WHERE ${isClaimed(claim)} AND claimed_until >= now()
      AND account.tenant_id = mailboxes.tenant_id AND account.identity_id = mailboxes.identity_id
    RETURNING mailboxes.tenant_id AS "tenantId", mailboxes.identity_id AS "identityId", account.setting`.execute(
    database,
  )
  return rows
}

/** Stores the state, unless another process has claimed the mailbox. */
export async function noteState(
  database: Database,
  claim: string,
  mailbox: ClaimedMailbox,
  state: 'connecting' | 'reading' | 'watching',
): Promise<void> {
  const connectedAt = sql<Date>`CASE WHEN state = 'connecting' THEN now() ELSE connected_at END`
  await whereClaimed(database, claim, mailbox)
    .set({
      state,
      ...(state === 'reading' ? { connected_at: connectedAt } : {}),
      ...(state === 'watching' ? { error: null, failures: 0, synced_at: sql`now()` } : {}),
    })
    .execute()
}

/** Releases a failed mailbox until its next attempt, with exponential backoff and jitter. */
export async function releaseAfterFailure(
  database: Database,
  claim: string,
  mailbox: ClaimedMailbox,
  { error, firstDelaySeconds }: { error: string; firstDelaySeconds: number },
): Promise<void> {
  await whereClaimed(database, claim, mailbox)
    .set({
      ...RELEASED,
      state: 'failed',
      error,
      failures: sql`failures + 1`,
      failed_setting: mailbox.setting,
      next_attempt_at: sql`now() + make_interval(
        secs => least(${RETRY_SECONDS_MAX}::float8, ${firstDelaySeconds}::float8 * 2 ^ least(failures, ${DOUBLINGS_MAX}::integer))
          * (0.75 + random() / 2))`,
    })
    .execute()
}

/** Releases a mailbox, so that any process can claim it immediately. */
export async function releaseMailbox(database: Database, claim: string, mailbox: ClaimedMailbox): Promise<void> {
  await whereClaimed(database, claim, mailbox)
    .set({ ...RELEASED, state: 'waiting', next_attempt_at: sql`now()` })
    .execute()
}

/** An update of a mailbox that applies only while this process has claimed it. */
function whereClaimed(database: Database, claim: string, { tenantId, identityId }: ClaimedMailbox) {
  return database
    .updateTable('mailboxes')
    .where('tenant_id', '=', tenantId)
    .where('identity_id', '=', identityId)
    .where(isClaimed(claim))
}
