import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { EmailAccount } from '../email-account.ts'

/** The limit that an identity has reached, and when it may send again. */
export interface ReachedLimit {
  code: 'mail_daily_limit' | 'mail_spacing'
  at: Date
}

/** When an identity may send its next mail; null: now. Mails with an unknown outcome count, because they may have been sent. */
export async function nextSend(
  tenant: Tenant,
  { identityId, dailyLimit, spacingSeconds }: Pick<EmailAccount, 'identityId' | 'dailyLimit' | 'spacingSeconds'>,
  now: Date,
): Promise<ReachedLimit | null> {
  const latest = await tenant.db
    .selectFrom('mail_sends')
    .select('claimed_at')
    .where('identity_id', '=', identityId)
    .where('claimed_at', '>', new Date(now.getTime() - DAY_MS))
    .orderBy('claimed_at', 'desc')
    .limit(dailyLimit)
    .execute()
  const [newest] = latest
  const oldest = latest[dailyLimit - 1]
  if (oldest) return { code: 'mail_daily_limit', at: new Date(oldest.claimed_at.getTime() + DAY_MS) }
  if (!newest) return null
  const allowedAt = new Date(newest.claimed_at.getTime() + spacingSeconds * 1000)
  return allowedAt > now ? { code: 'mail_spacing', at: allowedAt } : null
}
