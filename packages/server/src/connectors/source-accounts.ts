import { conflict } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Connector } from './connector.ts'

/**
 * Remembers which account writes under a source's name. What was read keeps the account's ids under that name, also after
 * the connection is deleted: another account's person 1 would become this one's, and its events would count as recorded.
 * @throws ServiceError 409 `source_of_another_account`
 */
export async function claimSource(
  tx: Tenant,
  source: string,
  { name: connector }: Connector,
  accountId: string,
): Promise<void> {
  await tx.db
    .insertInto('source_accounts')
    .values({ source, connector, account_id: accountId })
    .onConflict((row) => row.columns(['source']).doNothing())
    .execute()
  const known = await tx.db
    .selectFrom('source_accounts')
    .select(['connector', 'account_id'])
    .where('source', '=', source)
    .executeTakeFirstOrThrow()
  if (known.connector === connector && known.account_id === accountId) return
  const message = `The source ${source} has what was read from another account, whose ids would mix with this one's. Connect this account under another source name.`
  throw conflict('source_of_another_account', message)
}
