import { findSenders } from '../../identities/identities.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import type { Sender } from '../reasoning/values.ts'

/** The sender of an agent's messages, for its reasoning, which must not reach identities itself. */
export async function senderOf(
  tenant: Tenant,
  { identity_id: id }: Pick<AgentConfiguration, 'identity_id'>,
): Promise<Sender | null> {
  const found = id === null ? undefined : (await findSenders(tenant, [id])).get(id)
  if (found === undefined) return null
  return { firstname: found.first_name, lastname: found.last_name, role: found.role, jobtitle: found.job_title }
}
