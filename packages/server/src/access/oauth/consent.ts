import Type from 'typebox'
import { scopesOf } from '../../operations/scopes.ts'
import { ServiceError } from '../../platform/errors.ts'
import { Id, Nullable, success } from '../../platform/http/responses.ts'
import { LABEL, TEXT, WORD } from '../../platform/personal.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Stores } from '../../platform/tenant.ts'
import { profileOf } from '../tenants-of-person.ts'
import type { OfferedTool } from '../tool-choice.ts'
import type { AuthorizationRequest, RefusedRequest } from './authorization-request.ts'
import { displayedHost, isOnThisMachine } from './clients.ts'
import { allowApplication, type Decision } from './grants.ts'
import { OAuthError } from './oauth-error.ts'
import { GRANTABLE_SCOPES } from './scopes.ts'

export const ConsentResponse = success({
  /** Why the application cannot be allowed, and where the person can return to. */
  refusal: Nullable(
    Type.Object({
      application: Type.String(LABEL),
      redirect_host: Type.String(WORD),
      message: Type.String(TEXT),
      redirect_to: Type.String(TEXT),
    }),
  ),
  consent: Nullable(
    Type.Object({
      application: Type.String(LABEL),
      redirect_host: Type.String(WORD),
      /** Whether the application is a program on the person's own machine. */
      is_local: Type.Boolean(),
      requested_scopes: Type.Array(Type.String(WORD)),
      /** The person's workspaces, with the scopes that they can give there. */
      tenants: Type.Array(
        Type.Object({ tenant_id: Id, name: Type.String(LABEL), scopes: Type.Array(Type.String(WORD)) }),
      ),
      active_tenant_id: Nullable(Id),
      /** The tools among which the person can choose. */
      tools: Type.Array(
        Type.Object({
          name: Type.String(WORD),
          title: Type.String(WORD),
          scopes: Type.Array(Type.String(WORD)),
          reads: Type.Boolean(),
        }),
      ),
      cancel_to: Type.String(TEXT),
    }),
  ),
})
export type ConsentResponse = Type.Static<typeof ConsentResponse>

/**
 * What a person is asked when an application wants to act for them.
 * @param activeTenantId the tenant of their session, which the page proposes.
 */
export async function consentFor(
  database: Database,
  asked: AuthorizationRequest | RefusedRequest,
  userId: string,
  activeTenantId: string | null,
  offeredTools: readonly OfferedTool[],
): Promise<Omit<ConsentResponse, 'status'>> {
  const { client, redirectUri } = asked
  const application = { application: client.name, redirect_host: displayedHost(redirectUri) }
  if ('redirectTo' in asked) {
    const refusal = { ...application, message: asked.error.message, redirect_to: asked.redirectTo }
    return { refusal, consent: null }
  }
  const { tenants } = await profileOf(database, userId)
  return {
    refusal: null,
    consent: {
      ...application,
      is_local: isOnThisMachine(redirectUri),
      requested_scopes: asked.scopes,
      tenants: tenants.map(({ tenant_id, name, role }) => ({
        tenant_id,
        name,
        scopes: GRANTABLE_SCOPES.filter((scope) => scopesOf(role).has(scope)),
      })),
      active_tenant_id: activeTenantId,
      tools: offeredTools.map(({ name, title, scopes, reads }) => ({ name, title, scopes, reads })),
      cancel_to: asked.responseUrl({ error: new OAuthError('access_denied', 'The person did not allow it.') }),
    },
  }
}

/**
 * Allows what an application asked for. @returns the URL that takes the person back to it.
 * @throws ServiceError 400 if it asked wrongly, and as `allowApplication`.
 */
export async function decide(
  stores: Stores,
  asked: AuthorizationRequest | RefusedRequest,
  person: { id: string; name: string },
  decision: Decision,
  now: Date,
): Promise<string> {
  if ('redirectTo' in asked) throw new ServiceError(400, asked.error.code, asked.error.message)
  return asked.responseUrl({ code: await allowApplication(stores, person, asked, decision, now) })
}
