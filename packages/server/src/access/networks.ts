import { type RawBuilder, sql } from 'kysely'
import { ServiceError } from '../platform/errors.ts'
import { HOST, networkOf } from '../platform/http/networks.ts'
import type { Database } from '../platform/postgres/database.ts'
import { MINUTE_MS } from '../platform/time.ts'

const WRONG_CODES_MAX = 10
const LOCKED_MS = 15 * MINUTE_MS
/** Represents every network that a person has not signed in from. */
const UNKNOWN_NETWORK = '0.0.0.0/0'

/**
 * An address in the column's CIDR form: an IPv4 address as a whole, an IPv6 address as its /64.
 */
function hostOf(ip: string): string {
  return networkOf(ip, HOST) ?? UNKNOWN_NETWORK
}

/** The accounts of an email address, or the one with an id, and whether each has signed in from this network. */
export async function accountsIn(
  database: Database,
  person: { id: string } | { email: string },
  ip: string,
): Promise<{ id: string; isKnown: boolean }[]> {
  const network = networkOf(ip, HOST)
  const rows = await database
    .selectFrom('users')
    .leftJoin('user_networks', (join) =>
      join.onRef('user_networks.user_id', '=', 'users.id').on('network', '=', network ?? UNKNOWN_NETWORK),
    )
    .select(['users.id', 'user_networks.user_id as known'])
    .where((is) => ('id' in person ? is('users.id', '=', person.id) : is('users.email', '=', person.email)))
    .execute()
  return rows.map(({ id, known }) => ({ id, isKnown: network !== null && known !== null }))
}

/**
 * Records that a person has signed in from a network, so that attempts elsewhere do not lock them out there. An account that
 * was deleted meanwhile has none: the lock waits for a deletion that is under way.
 */
export async function rememberNetwork(database: Database, userId: string, ip: string, now: Date): Promise<void> {
  const fresh = { wrong_codes: 0, locked_until: null, seen_at: now }
  await database
    .insertInto('user_networks')
    .columns(['user_id', 'network', 'wrong_codes', 'locked_until', 'seen_at'])
    .expression(({ selectFrom }) =>
      selectFrom('users')
        .select([
          'users.id',
          sql<string>`${hostOf(ip)}::cidr`.as('network'),
          sql<number>`${fresh.wrong_codes}::integer`.as('wrong_codes'),
          sql<null>`NULL::timestamptz`.as('locked_until'),
          sql<Date>`${now}::timestamptz`.as('seen_at'),
        ])
        .where('users.id', '=', userId)
        .forKeyShare(),
    )
    .onConflict((existing) => existing.columns(['user_id', 'network']).doUpdateSet(fresh))
    .execute()
}

/** @throws ServiceError 429 `second_factor_locked` after too many wrong codes from this network. */
export async function requireUnlocked(database: Database, userId: string, ip: string, now: Date): Promise<void> {
  const row = await database
    .selectFrom('user_networks')
    .select('locked_until')
    .where('user_id', '=', userId)
    .where('network', '=', bucketOf(userId, ip))
    .executeTakeFirst()
  const until = row?.locked_until ?? now
  if (until <= now) return
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000)
  const message = `Too many wrong codes. Try again in ${Math.ceil(seconds / 60)} minutes.`
  throw new ServiceError(429, 'second_factor_locked', message, { retryAfterSeconds: seconds })
}

/** Counts a wrong code: per network if the person has signed in from it, else for all unknown networks together. */
export async function countWrongCode(database: Database, userId: string, ip: string, now: Date): Promise<void> {
  const isLong = sql`user_networks.seen_at <= ${new Date(now.getTime() - LOCKED_MS)}`
  const count = sql<number>`CASE WHEN ${isLong} THEN 1 ELSE user_networks.wrong_codes + 1 END`
  const lockedUntil = new Date(now.getTime() + LOCKED_MS)
  await database
    .insertInto('user_networks')
    .values({ user_id: userId, network: bucketOf(userId, ip), wrong_codes: 1, seen_at: now })
    .onConflict((existing) =>
      existing.columns(['user_id', 'network']).doUpdateSet({
        wrong_codes: count,
        locked_until: sql<Date | null>`CASE WHEN ${count} >= ${WRONG_CODES_MAX} THEN ${lockedUntil}::timestamptz END`,
        seen_at: now,
      }),
    )
    .execute()
}

function bucketOf(userId: string, ip: string): RawBuilder<string> {
  return sql<string>`COALESCE(
    (SELECT known.network FROM user_networks AS known WHERE known.user_id = ${userId}::uuid AND known.network = ${hostOf(ip)}::cidr),
    ${sql.lit(UNKNOWN_NETWORK)}::cidr)`
}
