import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import type { Reasoner } from './reasoner.ts'
import { createTemplateReasoner } from './template-reasoner.ts'
import type { Sender } from './values.ts'

// biome-ignore lint/suspicious/noEmptyInterface: filled in with the models
export interface ReasonerDependencies {}

/** Finds who thinks for an agent: the provider that it names, else one that the service has a key for. */
export async function chooseReasoner(
  tenant: Tenant,
  _dependencies: ReasonerDependencies,
  configuration: AgentConfiguration,
): Promise<Reasoner> {
  const sender = await senderOf(tenant, configuration.identity_id)
  return createTemplateReasoner(tenant, configuration, sender)
}

async function senderOf(tenant: Tenant, identityId: string | null): Promise<Sender | null> {
  if (identityId === null) return null
  const row = await tenant.db
    .selectFrom('identities')
    .select(['first_name', 'last_name', 'role', 'job_title'])
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
  return row ? { firstname: row.first_name, lastname: row.last_name, role: row.role, jobtitle: row.job_title } : null
}
