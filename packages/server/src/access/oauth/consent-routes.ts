import Type from 'typebox'
import type { Config } from '../../config.ts'
import { scopesOf } from '../../operations/scopes.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/app-types.ts'
import { Id, Nullable, pathId, success } from '../../platform/http/responses.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { personOf } from '../authentication.ts'
import { profileOf } from '../tenants-of-person.ts'
import { type RefusedRequest, readAuthorizationRequest } from './authorization-request.ts'
import { displayedHost, isOnThisMachine } from './clients.ts'
import { allowApplication } from './grants.ts'
import { OAuthError } from './oauth-error.ts'
import { GRANTABLE_SCOPES } from './scopes.ts'

const PATH = '/api/oauth/authorization'
/** The query with which an application sent the person here. */
const Query = Type.String({ minLength: 1, maxLength: 8_000 })

const DecisionBody = Type.Object(
  {
    query: Query,
    tenant_id: Type.String({ maxLength: 100 }),
    scopes: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 50 }),
    redact_personal_data: Type.Boolean(),
  },
  { additionalProperties: false },
)

export const ConsentAnswer = success({
  /** Why the application cannot be allowed, and where the person can return to. */
  refusal: Nullable(
    Type.Object({
      application: Type.String(),
      redirect_host: Type.String(),
      message: Type.String(),
      redirect_to: Type.String(),
    }),
  ),
  consent: Nullable(
    Type.Object({
      application: Type.String(),
      redirect_host: Type.String(),
      /** Whether the application is a program on the person's own machine. */
      is_local: Type.Boolean(),
      requested_scopes: Type.Array(Type.String()),
      /** The person's workspaces, with the scopes that they can give there. */
      tenants: Type.Array(Type.Object({ tenant_id: Id, name: Type.String(), scopes: Type.Array(Type.String()) })),
      active_tenant_id: Nullable(Id),
      cancel_to: Type.String(),
    }),
  ),
})
export type ConsentAnswer = Type.Static<typeof ConsentAnswer>

/**
 * What the dashboard's page asks and sends when an application wants to act for a person. Only the dashboard can send a
 * decision: see `requireOwnSite`.
 */
export function consentRoutes(
  app: App,
  { stores, config, clock }: { stores: Stores; config: Pick<Config, 'publicUrl'>; clock: Clock },
): void {
  const { database } = stores

  app.get(
    PATH,
    {
      config: { access: 'signed-in' },
      schema: { querystring: Type.Object({ query: Query }), response: { 200: ConsentAnswer } },
    },
    async (request) => {
      const { user, membership } = personOf(request)
      const asked = await readAuthorizationRequest(database, config, request.query.query)
      if ('redirectTo' in asked) return { status: 'success' as const, refusal: refusalOf(asked), consent: null }
      const { tenants } = await profileOf(database, user.id)
      return {
        status: 'success' as const,
        refusal: null,
        consent: {
          application: asked.client.name,
          redirect_host: displayedHost(asked.redirectUri),
          is_local: isOnThisMachine(asked.redirectUri),
          requested_scopes: asked.scopes,
          tenants: tenants.map(({ tenant_id, name, role }) => ({
            tenant_id,
            name,
            scopes: GRANTABLE_SCOPES.filter((scope) => scopesOf(role).has(scope)),
          })),
          active_tenant_id: membership?.tenantId ?? null,
          cancel_to: asked.answer({ error: new OAuthError('access_denied', 'The person did not allow it.') }),
        },
      }
    },
  )

  app.post(
    PATH,
    {
      config: { access: 'signed-in' },
      schema: { body: DecisionBody, response: { 200: success({ redirect_to: Type.String() }) } },
    },
    async (request) => {
      const { user } = personOf(request)
      const { query, tenant_id, scopes, redact_personal_data: redacts } = request.body
      const asked = await readAuthorizationRequest(database, config, query)
      if ('redirectTo' in asked) throw new ServiceError(400, asked.error.code, asked.error.message)
      const decision = { tenantId: pathId(tenant_id, 'tenant'), scopes, redacts }
      const code = await allowApplication(stores, user, asked, decision, clock())
      return { status: 'success' as const, redirect_to: asked.answer({ code }) }
    },
  )
}

function refusalOf({ client, redirectUri, error, redirectTo }: RefusedRequest) {
  return {
    application: client.name,
    redirect_host: displayedHost(redirectUri),
    message: error.message,
    redirect_to: redirectTo,
  }
}
