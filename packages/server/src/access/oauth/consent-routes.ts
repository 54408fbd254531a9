import Type from 'typebox'
import type { Config } from '../../config.ts'
import { callerOf } from '../../operations/idempotency.ts'
import type { App } from '../../platform/http/app-types.ts'
import { idInput } from '../../platform/http/inputs.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { pathId, success } from '../../platform/http/responses.ts'
import { TEXT } from '../../platform/personal.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { personOf } from '../authentication.ts'
import { ALL_TOOLS, storedTools, type ToolChoiceServices, Tools } from '../tool-choice.ts'
import { readAuthorizationRequest } from './authorization-request.ts'
import { ConsentResponse, consentFor, decide } from './consent.ts'

const PATH = '/api/oauth/authorization'
/** The query with which an application sent the person here. */
const Query = Type.String({ minLength: 1, maxLength: 8_000 })

const DecisionBody = Type.Object(
  {
    query: Query,
    tenant_id: idInput(),
    scopes: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 50 }),
    redact_personal_data: Type.Boolean(),
    tools: Type.Optional(Tools),
  },
  { additionalProperties: false },
)

interface ConsentDependencies extends ToolChoiceServices {
  stores: Stores
  config: Pick<Config, 'publicUrl'>
  clock: Clock
  rateLimiter: Pick<RateLimiter, 'checkAudited'>
}

/**
 * What the dashboard's page asks and sends when an application wants to act for a person. Only the dashboard can send a
 * decision: see `requireOwnSite`.
 */
export function consentRoutes(
  app: App,
  { stores, config, clock, offeredTools, rateLimiter }: ConsentDependencies,
): void {
  const { database } = stores

  app.get(
    PATH,
    {
      config: { access: 'signed-in' },
      schema: { querystring: Type.Object({ query: Query }), response: { 200: ConsentResponse } },
    },
    async (request) => {
      const { user, membership } = personOf(request)
      const asked = await readAuthorizationRequest(database, config, request.query.query)
      const result = await consentFor(database, asked, user.id, membership?.tenantId ?? null, offeredTools)
      return { status: 'success' as const, ...result }
    },
  )

  app.post(
    PATH,
    {
      config: { access: 'signed-in', unaudited: 'connected_app.authorized, in the tenant that the person chooses' },
      schema: { body: DecisionBody, response: { 200: success({ redirect_to: Type.String(TEXT) }) } },
    },
    async (request) => {
      const { query, tenant_id, scopes, redact_personal_data: redacts, tools = ALL_TOOLS } = request.body
      const asked = await readAuthorizationRequest(database, config, query)
      const decision = {
        tenantId: pathId(tenant_id, 'tenant'),
        scopes,
        redacts,
        tools: storedTools(tools, offeredTools),
      }
      const { user } = personOf(request)
      rateLimiter.checkAudited(callerOf(request.actor))
      const url = await decide(stores, asked, user, decision, clock())
      return { status: 'success' as const, redirect_to: url }
    },
  )
}
