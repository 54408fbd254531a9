import type { Config } from '../../config.ts'
import { tokenHash } from '../../platform/crypto/tokens.ts'
import { newId } from '../../platform/ids.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { type Clock, DAY_MS, HOUR_MS } from '../../platform/time.ts'
import { endGrantByItself } from './grants.ts'
import { isMcpResource } from './metadata.ts'
import { OAuthError } from './oauth-error.ts'
import { familyOf, isVerifierOf, newFamily, newRefreshToken, newToken, type TokenKind } from './token-texts.ts'

const ACCESS_MS = HOUR_MS
/** An application that is unused for this long has to be connected again. */
const REFRESH_MS = 30 * DAY_MS
/**
 * How long after its use a refresh token may be sent again: the response may have been lost, or two windows of one
 * application may refresh at once. Later, or once the application has used what it got, it counts as stolen.
 */
const REPEAT_MS = 10_000

type Database = Stores['database']

export interface ExchangeDependencies {
  stores: Stores
  config: Pick<Config, 'publicUrl'>
  clock: Clock
}

/**
 * Of a grant, the newest codes and tokens that are kept: an application that refreshes in a loop must not fill the
 * table.
 */
const TOKENS_MAX = 100

/** A code or token as found. */
type Row = NonNullable<Awaited<ReturnType<typeof lockToken>>>

/** Why an exchange fails, after the transaction has committed: a theft must be recorded although the call fails. */
type Outcome = { tokens: object } | { refusal: OAuthError }

/** The token endpoint: exchanges a code or a refresh token for new tokens. @throws OAuthError */
export async function exchange(
  { stores, config, clock }: ExchangeDependencies,
  parameters: ReadonlyMap<string, string>,
): Promise<object> {
  const of = (name: string) => parameters.get(name) ?? ''
  const kind = KIND_OF_GRANT_TYPE.get(of('grant_type'))
  if (kind === undefined) {
    throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
  const resource = parameters.get('resource')
  if (resource !== undefined && !isMcpResource(resource, config)) {
    throw new OAuthError('invalid_target', 'resource must be the URL of this MCP server.')
  }
  const sent = of(kind === 'code' ? 'code' : 'refresh_token')
  const now = clock()
  const outcome = await stores.database.transaction().execute(async (database): Promise<Outcome> => {
    const row = await lockToken(database, sent, [kind])
    if (row === null) {
      if (kind === 'refresh') await endGrantOfFamily(stores, database, sent, now)
      return refused(kind)
    }
    const tx = openTenant({ ...stores, database }, row.tenant_id)
    if (kind === 'code') return exchangeCode(tx, row, of, now)
    return exchangeRefreshToken(tx, row, of, now)
  })
  if ('refusal' in outcome) throw outcome.refusal
  return outcome.tokens
}

const KIND_OF_GRANT_TYPE = new Map([
  ['authorization_code', 'code'],
  ['refresh_token', 'refresh'],
] as const) as ReadonlyMap<string, 'code' | 'refresh'>

type Parameter = (name: string) => string

async function exchangeCode(tx: Tenant, row: Row, of: Parameter, now: Date): Promise<Outcome> {
  if (row.used_at !== null) {
    await endGrantByItself(tx, row.grant_id, 'code_reused', now)
    return refused('code')
  }
  const redirectUri = of('redirect_uri')
  // OAuth 2.1 no longer sends the URI again; if it is sent, it must be the same.
  const isSameUri = redirectUri === '' || redirectUri === row.redirect_uri
  const isProven = isVerifierOf(of('code_verifier'), row.code_challenge ?? '')
  if (!isUsable(row, of, now) || !isSameUri || !isProven) return refused('code')
  await endOlderGrants(tx, row, now)
  const family = newFamily()
  const ofGrant = tx.db.updateTable('oauth_grants').set({ family_hash: tokenHash(family) })
  await ofGrant.where('grant_id', '=', row.grant_id).execute()
  return issue(tx, row, family, now)
}

async function exchangeRefreshToken(tx: Tenant, row: Row, of: Parameter, now: Date): Promise<Outcome> {
  const isTooLate = row.used_at !== null && now.getTime() - row.used_at.getTime() > REPEAT_MS
  if (isTooLate || row.ended_at !== null) {
    await endGrantByItself(tx, row.grant_id, 'refresh_token_reused', now)
    return refused('refresh')
  }
  if (!isUsable(row, of, now)) return refused('refresh')
  const beyond = of('scope')
    .split(' ')
    .find((scope) => scope !== '' && !row.scopes.includes(scope))
  if (beyond !== undefined) {
    return { refusal: new OAuthError('invalid_scope', `The person has not allowed ${beyond}. Connect again.`) }
  }
  await endOtherChains(tx, row, now)
  return issue(tx, row, familyOf(of('refresh_token')) ?? newFamily(), now)
}

/**
 * Ends the grant if an unknown refresh token belongs to its family. Only a grant's newest tokens are kept, so this one was
 * issued by us and deleted since: two parties may hold tokens of the grant. A grant without a valid token has already expired.
 */
async function endGrantOfFamily(stores: Stores, database: Database, text: string, now: Date): Promise<void> {
  const family = familyOf(text)
  if (family === null) return
  const grant = await database
    .selectFrom('oauth_grants')
    .select(['tenant_id', 'grant_id'])
    .where('family_hash', '=', tokenHash(family))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('oauth_tokens')
          .whereRef('oauth_tokens.tenant_id', '=', 'oauth_grants.tenant_id')
          .whereRef('oauth_tokens.grant_id', '=', 'oauth_grants.grant_id')
          .where('expires_at', '>', now)
          .select('token_id'),
      ),
    )
    .forUpdate()
    .executeTakeFirst()
  if (!grant) return
  await endGrantByItself(
    openTenant({ ...stores, database }, grant.tenant_id),
    grant.grant_id,
    'refresh_token_reused',
    now,
  )
}

function isUsable(row: Row, of: Parameter, now: Date): boolean {
  return row.revoked_at === null && row.expires_at > now && row.client_id === of('client_id').toLowerCase()
}

function refused(kind: 'code' | 'refresh'): Outcome {
  const what = kind === 'code' ? 'code' : 'refresh token'
  return { refusal: new OAuthError('invalid_grant', `The ${what} is not valid: unknown, used, expired or revoked.`) }
}

/**
 * A code or token with its grant; null if it is unknown. The grant is locked until the transaction ends, so that of two
 * exchanges, the second sees what the first has ended.
 */
async function lockToken(database: Database, text: string, kinds: readonly TokenKind[]) {
  const found = database
    .selectFrom('oauth_tokens')
    .innerJoin('oauth_grants', (join) =>
      join
        .onRef('oauth_grants.tenant_id', '=', 'oauth_tokens.tenant_id')
        .onRef('oauth_grants.grant_id', '=', 'oauth_tokens.grant_id'),
    )
    .where('oauth_tokens.token_hash', '=', tokenHash(text))
    .where('oauth_tokens.kind', 'in', kinds)
  if (!(await found.select('oauth_grants.grant_id').forUpdate('oauth_grants').executeTakeFirst())) return null
  // A statement of its own, which sees what the holder of the lock has committed.
  const row = await found
    .select(['oauth_tokens.tenant_id', 'oauth_tokens.token_id', 'oauth_tokens.grant_id', 'oauth_tokens.kind'])
    .select(['oauth_tokens.code_challenge', 'oauth_tokens.redirect_uri'])
    .select(['oauth_tokens.parent_id', 'oauth_tokens.exchange_id'])
    .select(['oauth_tokens.expires_at', 'oauth_tokens.used_at', 'oauth_tokens.ended_at'])
    .select(['oauth_grants.client_id', 'oauth_grants.user_id', 'oauth_grants.scopes', 'oauth_grants.revoked_at'])
    .executeTakeFirst()
  return row ?? null
}

/**
 * An application that uses a refresh token has received it. So the token's parent cannot be exchanged again, and the
 * tokens from other exchanges of the parent end. Using one of these reveals that two parties hold tokens of the same
 * grant.
 */
async function endOtherChains(tx: Tenant, { grant_id, parent_id, exchange_id }: Row, now: Date): Promise<void> {
  const ofGrant = tx.db.updateTable('oauth_tokens').set({ ended_at: now }).where('grant_id', '=', grant_id)
  await ofGrant
    .where('ended_at', 'is', null)
    .where(({ or, and, eb }) =>
      or([
        and([eb('parent_id', '=', parent_id), eb('exchange_id', '!=', exchange_id)]),
        eb('token_id', '=', parent_id),
      ]),
    )
    .execute()
}

/** Marks what was exchanged as used, and creates an access token and a refresh token. */
async function issue(tx: Tenant, row: Row, family: string, now: Date): Promise<Outcome> {
  const access = newToken('access')
  const refresh = newRefreshToken(family)
  const exchangeId = newId()
  const token = (kind: 'access' | 'refresh', text: string, livesMs: number) => ({
    token_id: newId(),
    grant_id: row.grant_id,
    parent_id: row.token_id,
    exchange_id: exchangeId,
    kind,
    token_hash: tokenHash(text),
    expires_at: new Date(now.getTime() + livesMs),
  })
  const used = tx.db.updateTable('oauth_tokens').set({ used_at: now })
  await used.where('token_id', '=', row.token_id).where('used_at', 'is', null).execute()
  await tx.db
    .insertInto('oauth_tokens')
    .values([token('access', access, ACCESS_MS), token('refresh', refresh, REFRESH_MS)])
    .execute()
  await tx.db
    .deleteFrom('oauth_tokens')
    .where('token_id', 'in', (from) =>
      from
        .selectFrom('oauth_tokens')
        .select('token_id')
        .where('grant_id', '=', row.grant_id)
        .orderBy('token_id', 'desc')
        .offset(TOKENS_MAX),
    )
    .execute()
  return {
    tokens: {
      access_token: access,
      token_type: 'Bearer',
      expires_in: ACCESS_MS / 1000,
      refresh_token: refresh,
      scope: row.scopes.join(' '),
    },
  }
}

/** A person who connects the same application again replaces what they allowed before. */
async function endOlderGrants(tx: Tenant, row: Row, now: Date): Promise<void> {
  await tx.db
    .updateTable('oauth_grants')
    .set({ revoked_at: now })
    .where('user_id', '=', row.user_id)
    .where('client_id', '=', row.client_id)
    .where('grant_id', '!=', row.grant_id)
    .where('revoked_at', 'is', null)
    .execute()
}

/**
 * The revocation endpoint (RFC 7009): ends the grant of a refresh token, or one access token. An unknown token is not
 * an error.
 * @returns whether the token was the client's
 */
export async function revokeToken(
  { stores, clock }: ExchangeDependencies,
  parameters: ReadonlyMap<string, string>,
): Promise<boolean> {
  const now = clock()
  const clientId = parameters.get('client_id')?.toLowerCase()
  return stores.database.transaction().execute(async (database) => {
    const row = await lockToken(database, parameters.get('token') ?? '', ['access', 'refresh'])
    if (row === null || row.client_id !== clientId) return false
    const tx = openTenant({ ...stores, database }, row.tenant_id)
    if (row.kind === 'refresh') await endGrantByItself(tx, row.grant_id, 'revoked_by_application', now)
    else await tx.db.deleteFrom('oauth_tokens').where('token_id', '=', row.token_id).execute()
    return true
  })
}
