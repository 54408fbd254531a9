import type { Tenant } from '../../platform/tenant.ts'
import type { EmailAccount } from '../email-account.ts'

/** Remembers that a server did not accept the log-in, so that the identity no longer counts as connected. */
export async function noteLoginProblem(
  tenant: Tenant,
  { identityId, address }: EmailAccount,
  cause: unknown,
  said: string,
): Promise<void> {
  const { code } = cause as { code?: string }
  // A server that is away for a moment says nothing of the password.
  if (code !== 'EAUTH') return
  await tenant.db
    .updateTable('email_accounts')
    .set({ error: `SMTP: ${said}` })
    .where('identity_id', '=', identityId)
    .where('address', '=', address)
    .execute()
}
