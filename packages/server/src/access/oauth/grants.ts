import { isDeepStrictEqual } from 'node:util'
import { type Actor, audit } from '../../operations/audit.ts'
import { scopesOf } from '../../operations/scopes.ts'
import { tokenHash } from '../../platform/crypto/tokens.ts'
import { notFound, ServiceError, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts'
import { roleOf } from '../tenants-of-person.ts'
import { ALL_TOOLS, allowsMore } from '../tool-choice.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { displayedHost, hasNoGrant } from './clients.ts'
import { GRANTABLE_SCOPES } from './scopes.ts'
import { newToken } from './token-texts.ts'

const CODE_MS = 5 * MINUTE_MS
/** An application that nobody has allowed is forgotten after this time. */
const UNUSED_CLIENT_MS = DAY_MS
/** One whose grants have all ended, after this time: until then, people need not register it again. */
const ENDED_CLIENT_MS = 90 * DAY_MS

/** What a person decided. */
export interface Decision {
  tenantId: string
  scopes: readonly string[]
  redacts: boolean
  /** The names of the tools that the application may use, or `all`, the default. */
  tools?: readonly string[]
}

/** What `allowApplication` needs of the request. */
type Allowed = Pick<AuthorizationRequest, 'redirectUri' | 'challenge'> & {
  client: Pick<AuthorizationRequest['client'], 'clientId' | 'name'>
}

/**
 * Lets an application act for a person, with the scopes that the person chose.
 * @returns the code with which the application gets its tokens.
 * @throws ServiceError 404 for a tenant that is not the person's, 400 for a scope that nobody can give, 403 for one that
 * the person does not have.
 */
export async function allowApplication(
  stores: Stores,
  person: { id: string; name: string },
  { client, redirectUri, challenge }: Allowed,
  { tenantId, scopes, redacts, tools = ALL_TOOLS }: Decision,
  now: Date,
): Promise<string> {
  const code = newToken('code')
  const grantId = newId()
  await stores.database.transaction().execute(async (database) => {
    const tx = openTenant({ ...stores, database }, tenantId)
    const role = await roleOf(database, tenantId, person.id)
    requireOwnScopes(scopes, scopesOf(role))
    const place = { client_name: client.name, redirect_host: displayedHost(redirectUri) }
    await tx.db
      .insertInto('oauth_grants')
      .values({
        grant_id: grantId,
        user_id: person.id,
        client_id: client.clientId,
        ...place,
        scopes: GRANTABLE_SCOPES.filter((scope) => scopes.includes(scope)),
        redacts,
        tools: [...tools],
        created_at: now,
      })
      .execute()
    await tx.db
      .insertInto('oauth_tokens')
      .values({
        token_id: newId(),
        grant_id: grantId,
        kind: 'code',
        token_hash: tokenHash(code),
        code_challenge: challenge,
        redirect_uri: redirectUri,
        expires_at: new Date(now.getTime() + CODE_MS),
      })
      .execute()
    const used = database.updateTable('oauth_clients').set({ authorized_at: now })
    await used.where('client_id', '=', client.clientId).execute()
    const actor: Actor = { kind: 'user', id: person.id, name: person.name }
    const seen = { redact_personal_data: redacts, tools }
    const details = { name: client.name, redirect_host: place.redirect_host, scopes, ...seen }
    await audit(tx, { actor, action: 'connected_app.authorized', ...subject(grantId), details }, now)
  })
  return code
}

const subject = (grantId: string) => ({ subjectKind: 'connected_app', subjectId: grantId })

function requireOwnScopes(scopes: readonly string[], own: ReadonlySet<string>): void {
  if (scopes.length === 0) throw validationError([{ path: 'scopes', message: 'must have at least one scope' }])
  const unknown = scopes.find((scope) => !(GRANTABLE_SCOPES as readonly string[]).includes(scope))
  if (unknown !== undefined) {
    throw validationError([{ path: 'scopes', message: `must be any of ${GRANTABLE_SCOPES.join(', ')}` }])
  }
  const missing = scopes.find((scope) => !own.has(scope))
  if (missing === undefined) return
  const message = `You cannot allow ${missing}, because your role does not include it.`
  throw new ServiceError(403, 'insufficient_role', message, { details: [{ path: 'scopes', message: missing }] })
}

/**
 * Changes the tools that an application may use; the next call knows it.
 * @param tx a transaction's handle.
 * @param isOwn whether the caller is the person who connected it: nobody else can allow it more.
 * @returns whether its tools changed.
 * @throws ServiceError 404, 403 `not_your_application`
 */
export async function changeTools(
  tx: Tenant,
  grantId: string,
  tools: readonly string[],
  isOwn: boolean,
): Promise<boolean> {
  const grant = await tx.db
    .selectFrom('oauth_grants')
    .select('tools')
    .where('grant_id', '=', grantId)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!grant) throw notFound('connected app')
  if (!isOwn && allowsMore(tools, grant.tools)) {
    const message = 'Only the person who connected the application can allow it more tools.'
    throw new ServiceError(403, 'not_your_application', message)
  }
  const isChanged = !isDeepStrictEqual(grant.tools, tools)
  if (isChanged) {
    const changing = tx.db.updateTable('oauth_grants').set({ tools: [...tools] })
    await changing.where('grant_id', '=', grantId).execute()
  }
  return isChanged
}

/**
 * Ends a grant: its tokens stop working with the commit, on every process.
 * @param tx a transaction's handle. @returns the application's name; null if there is no such grant.
 */
export async function endGrant(tx: Tenant, grantId: string, now: Date): Promise<string | null> {
  const ended = await tx.db
    .updateTable('oauth_grants')
    .set({ revoked_at: now })
    .where('grant_id', '=', grantId)
    .where('revoked_at', 'is', null)
    .returning('client_name')
    .executeTakeFirst()
  return ended?.client_name ?? null
}

/** Ends a grant without a person, and says why in the audit log. */
export async function endGrantByItself(
  tx: Tenant,
  grantId: string,
  reason: 'code_reused' | 'refresh_token_reused' | 'revoked_by_application',
  now: Date,
): Promise<void> {
  const name = await endGrant(tx, grantId, now)
  if (name === null) return
  const entry = { action: 'connected_app.revoked', ...subject(grantId), details: { name, reason } }
  await audit(tx, { actor: { kind: 'service' }, ...entry }, now)
}

/** Deletes expired codes and tokens, grants that have none left, and applications that nobody uses. */
export async function deleteExpiredGrants(database: Database, now: Date): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms)
  await database.deleteFrom('oauth_tokens').where('expires_at', '<', now).execute()
  await database
    .deleteFrom('oauth_grants')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('oauth_tokens')
            .whereRef('oauth_tokens.tenant_id', '=', 'oauth_grants.tenant_id')
            .whereRef('oauth_tokens.grant_id', '=', 'oauth_grants.grant_id')
            .select('token_id'),
        ),
      ),
    )
    .execute()
  await database
    .deleteFrom('oauth_clients')
    .where('authorized_at', 'is', null)
    .where('created_at', '<', before(UNUSED_CLIENT_MS))
    .execute()
  await database
    .deleteFrom('oauth_clients')
    .where('authorized_at', '<', before(ENDED_CLIENT_MS))
    .where(hasNoGrant)
    .execute()
}
