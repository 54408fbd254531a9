import type { ExpressionBuilder } from 'kysely'
import { mergedInto } from '../../contacts/aliases.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { GuardedAction } from './guardrail.ts'
import type { ActionRef } from './queue.ts'

/** When an agent last reached a contact or one merged into it, apart from the checked action. */
export async function lastOutreachAt(tenant: Tenant, checked: GuardedAction): Promise<Date | null> {
  const merged = await mergedInto(tenant, checked.contactId)
  const row = await tenant.db
    .selectFrom('agent_outreach')
    .select('at')
    .where('contact_id', 'in', [checked.contactId, ...merged])
    .where(others(checked))
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** A condition that excludes the checked action's own outreach, which an earlier attempt may have counted. */
function others({ runId, contactId, actionIndex }: ActionRef) {
  return ({ not, and, eb }: ExpressionBuilder<TenantTables, 'agent_outreach'>) =>
    not(and([eb('run_id', '=', runId), eb('contact_id', '=', contactId), eb('action_index', '=', actionIndex)]))
}

/** How many messages an identity has sent in a period, apart from the checked action. */
export async function outreachOf(
  tenant: Tenant,
  identityId: string,
  { start, end }: { start: Date; end: Date },
  checked: ActionRef,
): Promise<number> {
  const { sent } = await tenant.db
    .selectFrom('agent_outreach')
    .select(({ fn }) => fn.countAll<number>().as('sent'))
    .where('identity_id', '=', identityId)
    .where(others(checked))
    .where('at', '>=', start)
    .where('at', '<', end)
    .executeTakeFirstOrThrow()
  return Number(sent)
}
