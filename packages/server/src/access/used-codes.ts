import type { Database } from '../platform/postgres/database.ts'
import { MINUTE_MS } from '../platform/time.ts'

/** Longer than any authenticator code is accepted, which is its own half minute and the ones before and after. */
const KEPT_MS = 5 * MINUTE_MS

/**
 * Marks a code as used, so that someone who sees it being typed cannot reuse it. Call it before checking the code, so
 * that the second of two concurrent requests with the same code is rejected. @returns false if it was used before.
 */
export async function useCode(database: Database, userId: string, code: string, now: Date): Promise<boolean> {
  const expiresAt = new Date(now.getTime() + KEPT_MS)
  const row = await database
    .insertInto('user_used_codes')
    .values({ user_id: userId, code: plain(code), expires_at: expiresAt })
    .onConflict((existing) =>
      existing
        .columns(['user_id', 'code'])
        .doUpdateSet({ expires_at: expiresAt })
        .where('user_used_codes.expires_at', '<=', now),
    )
    .returning('code')
    .executeTakeFirst()
  return row !== undefined
}

/** Unmarks a code that the library rejected: it may be valid later. */
export async function releaseCode(database: Database, userId: string, code: string): Promise<void> {
  const used = database.deleteFrom('user_used_codes').where('user_id', '=', userId)
  await used.where('code', '=', plain(code)).execute()
}

const plain = (code: string) => code.replace(/\s/g, '')
