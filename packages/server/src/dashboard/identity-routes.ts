import Type from 'typebox'
import type { MailSecurity, MailServer } from '../identities/email-account.ts'
import {
  checkEmailAccount,
  describeEmailAccount,
  type EmailAccountDescription,
  openEmailAccount,
  removeEmailAccount,
  setEmailAccount,
} from '../identities/email-accounts.ts'
import { readIdentity, searchIdentities } from '../identities/identities.ts'
import { Identity } from '../identities/identity-object.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import { latestSession } from '../identities/social/sessions.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { searchText } from '../platform/http/query-parameters.ts'
import { Id, Nullable, pathId, success, Timestamp } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { ADMIN, VIEWER } from './access.ts'

const Path = Type.Object({ identity_id: Type.String() })
const Security = Type.Unsafe<MailSecurity>({ type: 'string', enum: ['tls', 'starttls', 'none'] })

const ServerDescription = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  security: Security,
  user: Type.String(),
  login: Type.Enum(['password', 'access_token'] as const),
})
const EmailAccount = Type.Object({
  identity_id: Id,
  address: Type.String(),
  smtp: ServerDescription,
  imap: Nullable(ServerDescription),
  /** Where OAuth2 access tokens are renewed. */
  renewal: Nullable(Type.Object({ client_id: Type.String(), token_url: Type.String() })),
  daily_limit: Type.Integer(),
  spacing_seconds: Type.Integer(),
  connected: Type.Boolean(),
  verified_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const OneAccount = success({ email_account: EmailAccount })

const Connections = Type.Object({
  email_account: Nullable(EmailAccount),
  agents: Type.Array(Type.Object({ agent_id: Id, name: Type.String(), enabled: Type.Boolean() })),
  /** The log-in that was begun last, whether it has ended or not. */
  social_login: Nullable(Type.Object({ session_id: Id, status: Type.String(), deadline_at: Timestamp })),
  /** The network is played by the service itself, and nothing leaves it. */
  is_sandbox: Type.Boolean(),
})
export type IdentityConnections = Type.Static<typeof Connections>

const ServerInput = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 255 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    security: Security,
    user: Type.String({ minLength: 1, maxLength: 320 }),
  },
  { additionalProperties: false },
)
const AccountBody = Type.Object(
  {
    address: Type.String({ minLength: 1, maxLength: 320 }),
    smtp: ServerInput,
    imap: Nullable(ServerInput),
    /** Of both servers. Without it the one that is known stays, as long as servers and user do. */
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 8_192 })),
    daily_limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
    spacing_seconds: Type.Integer({ minimum: 0, maximum: 86_400 }),
  },
  { additionalProperties: false },
)
export type EmailAccountInput = Type.Static<typeof AccountBody>

export interface IdentityPageDependencies {
  clock: Clock
  mail: MailDependencies
  social: SocialConnector
}

/** Identities page by page; what one is connected to, and its mailbox: set, check, remove. */
export function identityPageRoutes(app: App, { clock, mail, social }: IdentityPageDependencies): void {
  app.get(
    '/api/identities',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          ...pageParameters(50, 100),
          search: searchText('Words that must all occur in name, role or address.'),
        }),
        response: { 200: success({ identities: Type.Array(Identity), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 50, search } }) => {
      const { identities, total } = await searchIdentities(tenant, search, { page, limit })
      return { status: 'success' as const, identities, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.get(
    '/api/identities/:identity_id/connections',
    {
      config: { access: VIEWER },
      schema: { hide: true, params: Path, response: { 200: success({ connections: Connections }) } },
    },
    async ({ tenant, params }) => {
      const { identity_id: identityId } = await readIdentity(tenant, pathId(params.identity_id, 'identity'))
      const [account, agents, session] = await Promise.all([
        describeEmailAccount(tenant, identityId),
        agentsOf(tenant, identityId),
        latestSession(tenant, identityId),
      ])
      const login = session && {
        session_id: session.session_id,
        status: session.status,
        deadline_at: session.deadline_at.toISOString(),
      }
      const isSandbox = social.name === 'sandbox'
      const connections = { email_account: account, agents, social_login: login ?? null, is_sandbox: isSandbox }
      return { status: 'success' as const, connections }
    },
  )

  app.put(
    '/api/identities/:identity_id/email-account',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Path, body: AccountBody, response: { 200: OneAccount } },
    },
    async ({ tenant, actor, params, body }) => {
      const { identity_id: identityId } = await readIdentity(tenant, pathId(params.identity_id, 'identity'))
      const known = await openEmailAccount(tenant, mail, identityId)
      const details: ErrorDetail[] = []
      const serverOf = (kind: 'smtp' | 'imap', input: Omit<MailServer, 'login'> & { user: string }): MailServer => {
        const { user, ...server } = input
        const before = known?.[kind] ?? null
        if (body.password !== undefined) return { ...server, login: { user, password: body.password } }
        // A password that is kept goes to the server that it was given for, and to no other.
        if (before && before.host === server.host && before.login.user === user)
          return { ...server, login: before.login }
        if (details.length === 0) {
          details.push({ path: 'password', message: 'is required for a new account, another server or another user' })
        }
        return { ...server, login: { user, password: '' } }
      }
      const smtp = serverOf('smtp', body.smtp)
      const imap = body.imap === null ? null : serverOf('imap', body.imap)
      if (details.length > 0) throw validationError(details)
      const limits = { dailyLimit: body.daily_limit, spacingSeconds: body.spacing_seconds }
      // Without a password the log-ins are those that were known, and so is what renews them.
      const renewal = body.password === undefined ? (known?.renewal ?? null) : null
      const settings = { address: body.address, smtp, imap, renewal, ...limits }
      const account = await setEmailAccount(tenant, mail, actor, identityId, settings, clock())
      return accountAnswer(account)
    },
  )

  app.post(
    '/api/identities/:identity_id/email-account/check',
    { config: { access: ADMIN }, schema: { hide: true, params: Path, response: { 200: OneAccount } } },
    async ({ tenant, params }) =>
      accountAnswer(await checkEmailAccount(tenant, mail, pathId(params.identity_id, 'identity'), clock())),
  )

  app.delete(
    '/api/identities/:identity_id/email-account',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), identity_id: Id }) },
      },
    },
    async ({ tenant, actor, params }) => {
      const identityId = pathId(params.identity_id, 'identity')
      await removeEmailAccount(tenant, actor, identityId, clock())
      return { status: 'success' as const, deleted: true as const, identity_id: identityId }
    },
  )
}

function accountAnswer(account: EmailAccountDescription) {
  return { status: 'success' as const, email_account: account }
}

/** The agents that write as an identity. */
async function agentsOf(tenant: Tenant, identityId: string) {
  return tenant.db
    .selectFrom('agents')
    .select(['agent_id', 'name', 'enabled'])
    .where('identity_id', '=', identityId)
    .orderBy('name')
    .orderBy('agent_id')
    .execute()
}
