import type { Selectable } from 'kysely'
import { type Actor, audit } from '../../operations/audit.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { notFound, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type JobSender, jobQueue } from '../../platform/jobs/jobs.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { leaseMs } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Clock, HOUR_SECONDS } from '../../platform/time.ts'
import { subject } from '../identities.ts'
import type { SocialConnector } from './connector.ts'
import type { LoginFailure } from './failures.ts'
import { profileOf } from './profiles.ts'

/** A request that takes longer has hung; its job starts again. */
const STEP_SECONDS_MAX = 120

/**
 * One job per request to the network. It contains no secret, because finished jobs are retained for a while: secrets are
 * in the session's row, encrypted. A job whose `step` is no longer the session's does nothing.
 */
export const SOCIAL_LOGINS = jobQueue<{ sessionId: string; step: number }>('social-logins', {
  retryLimit: 3,
  retryDelay: 1,
  expireInSeconds: STEP_SECONDS_MAX,
  deleteAfterSeconds: HOUR_SECONDS,
})

/** A job counts as lost this long after its due time. */
export const LOST_AFTER_MS = leaseMs('social_step')

export type SessionStatus = 'queued' | 'running' | 'awaiting_2fa' | 'awaiting_email' | 'completed' | 'failed'
export type SessionRow = Selectable<TenantTables['social_sessions']>

export interface SocialDependencies {
  social: SocialConnector
  jobs: JobSender
  secrets: SecretBox
  clock: Clock
}

export interface Login {
  credentials: { username: string; password: string } | null
  country: string
  waitSeconds: number
}

/**
 * Queues a login. It replaces the identity's login in progress.
 * @returns the new session.
 * @throws ServiceError 404 for an unknown identity, 400 if there is neither a user name nor a stored profile.
 */
export async function startLogin(
  tenant: Tenant,
  { jobs, secrets, clock }: SocialDependencies,
  identityId: string,
  { credentials, country, waitSeconds }: Login,
  actor: Actor,
): Promise<SessionRow> {
  return tenant.transaction(async (tx) => {
    // Serializes concurrent logins. NO KEY UPDATE does not block inserts that reference the identity.
    const identity = await tx.db
      .selectFrom('identities')
      .select('identity_id')
      .where('identity_id', '=', identityId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!identity) throw notFound('identity')
    const profileId = await profileOf(tx, identityId)
    if (credentials === null && profileId === null) {
      const message = 'is required, with password: this identity has no stored profile to log in again with'
      throw validationError([{ path: 'username', message }])
    }
    const now = clock()
    await supersede(tx, identityId, actor, now)
    const sessionId = newId()
    const sealed = credentials && secrets.seal(JSON.stringify(credentials), credentialsPlace(tenant.id, sessionId))
    const session = await tx.db
      .insertInto('social_sessions')
      .values({
        session_id: sessionId,
        identity_id: identityId,
        status: 'queued',
        profile_id: profileId,
        country,
        actor: JSON.stringify(actor),
        is_renewal: credentials === null,
        credentials_sealed: sealed,
        wake_by: new Date(now.getTime() + LOST_AFTER_MS),
        deadline_at: new Date(now.getTime() + waitSeconds * 1_000),
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await jobs.send(tx, SOCIAL_LOGINS, { sessionId, step: 0 })
    return session
  })
}

/** Reads a session of an identity, and ends it if its deadline has passed. @throws ServiceError 404 */
export async function readSession(
  tenant: Tenant,
  identityId: string,
  sessionId: string,
  now: Date,
): Promise<SessionRow> {
  const find = () =>
    tenant.db
      .selectFrom('social_sessions')
      .selectAll()
      .where('identity_id', '=', identityId)
      .where('session_id', '=', sessionId)
      .executeTakeFirst()
  const session = await find()
  if (!session) throw notFound('login session')
  if (session.finished_at !== null || session.deadline_at > now) return session
  await expireSession(tenant, sessionId, now)
  return (await find()) ?? session
}

/** The latest login of an identity; undefined if there is none. */
export async function latestSession(tenant: Tenant, identityId: string): Promise<SessionRow | undefined> {
  return tenant.db
    .selectFrom('social_sessions')
    .selectAll()
    .where('identity_id', '=', identityId)
    .orderBy('created_at', 'desc')
    .orderBy('session_id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Fails a session whose deadline has passed; other sessions are left unchanged. */
export async function expireSession(tenant: Tenant, sessionId: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const session = await tx.db
      .selectFrom('social_sessions')
      .select(['session_id', 'identity_id'])
      .where('session_id', '=', sessionId)
      .where('finished_at', 'is', null)
      .where('deadline_at', '<=', now)
      .forUpdate()
      .executeTakeFirst()
    if (session) await failSession(tx, session, 'verification_timed_out', { kind: 'service' }, now)
  })
}

/** Fails a session and erases its secrets. The caller's transaction must have locked the session. */
export async function failSession(
  tx: Tenant,
  { session_id, identity_id }: Pick<SessionRow, 'session_id' | 'identity_id'>,
  code: LoginFailure,
  actor: Actor,
  now: Date,
): Promise<void> {
  const ended = { status: 'failed', error_code: code, finished_at: now, updated_at: now }
  await tx.db
    .updateTable('social_sessions')
    .set({ ...ended, credentials_sealed: null, code_sealed: null })
    .where('session_id', '=', session_id)
    .execute()
  const action = code === 'superseded' ? 'identity.social_login_superseded' : 'identity.social_login_failed'
  await audit(tx, { actor, action, ...subject(identity_id), details: { session_id, code } }, now)
}

async function supersede(tx: Tenant, identityId: string, actor: Actor, now: Date): Promise<void> {
  const earlier = await tx.db
    .selectFrom('social_sessions')
    .select(['session_id', 'identity_id', 'deadline_at'])
    .where('identity_id', '=', identityId)
    .where('finished_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!earlier) return
  const isOver = earlier.deadline_at <= now
  await failSession(tx, earlier, isOver ? 'verification_timed_out' : 'superseded', actor, now)
}

/** Where a session's secrets are stored. They can be decrypted nowhere else. */
export function credentialsPlace(tenantId: string, sessionId: string): string {
  return `${tenantId}/${sessionId}/social-credentials`
}
export function codePlace(tenantId: string, sessionId: string): string {
  return `${tenantId}/${sessionId}/social-code`
}
