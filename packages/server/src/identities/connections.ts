import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EmailAccount } from './email-account-object.ts'
import { describeEmailAccount } from './email-accounts.ts'
import { readIdentity } from './identities.ts'
import type { SocialConnector } from './social/connector.ts'
import { Status } from './social/requests.ts'
import { latestSession, type SessionStatus } from './social/sessions.ts'

const AgentOfIdentity = Type.Object({ agent_id: Id, name: Type.String(TEXT), enabled: Type.Boolean() })

/** Finds the agents that write as an identity: agents know identities, not the other way round. */
export type FindAgents = (tenant: Tenant, identityId: string) => Promise<Type.Static<typeof AgentOfIdentity>[]>

export const Connections = Type.Object(
  {
    email_account: Nullable(EmailAccount),
    agents: Type.Array(AgentOfIdentity, {
      description: 'The agents that write as the identity. Empty without the scope `agents:read`.',
    }),
    social_login: Nullable(
      Type.Object({ session_id: Id, status: Status, deadline_at: Timestamp }),
      'The latest login, whether it has ended or not.',
    ),
    is_sandbox: Type.Boolean({
      description: 'Whether the social network is simulated, so that nothing leaves the service.',
    }),
  },
  { title: 'IdentityConnections' },
)
export type IdentityConnections = Type.Static<typeof Connections>

/** @throws ServiceError 404 */
export async function readConnections(
  tenant: Tenant,
  social: Pick<SocialConnector, 'name'>,
  identityId: string,
  /** null for a caller who may not see them. */
  findAgents: FindAgents | null,
): Promise<IdentityConnections> {
  await readIdentity(tenant, identityId)
  const [account, agents, session] = await Promise.all([
    describeEmailAccount(tenant, identityId),
    findAgents?.(tenant, identityId) ?? [],
    latestSession(tenant, identityId),
  ])
  const login = session && {
    session_id: session.session_id,
    status: session.status as SessionStatus,
    deadline_at: session.deadline_at.toISOString(),
  }
  return { email_account: account, agents, social_login: login ?? null, is_sandbox: social.name === 'sandbox' }
}
