import type { Database } from '../platform/postgres/database.ts'

/** Longer than any code of an authenticator is accepted, which is its own half minute and those before and after. */
const KEPT_MS = 5 * 60_000

/**
 * Uses a code up: each opens once, so that whoever sees one being typed has no use for it. It is used up before it is
 * checked: of two who send the same one at once, the second is refused.
 * @returns false when it was used before.
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

/** A code that opened nothing may be right later. */
export async function giveCodeBack(database: Database, userId: string, code: string): Promise<void> {
  const used = database.deleteFrom('user_used_codes').where('user_id', '=', userId)
  await used.where('code', '=', plain(code)).execute()
}

const plain = (code: string) => code.replace(/\s/g, '')
