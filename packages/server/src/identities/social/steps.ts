import { type Actor, audit } from '../../operations/audit.ts'
import type { TenantJob } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { subject } from '../identities.ts'
import { type LoginState, SocialUnavailable } from './connector.ts'
import { storeCheck, storeProfile } from './profiles.ts'
import {
  codePlace,
  credentialsPlace,
  expireSession,
  failSession,
  LOST_AFTER_MS,
  type SessionRow,
  SOCIAL_LOGINS,
  type SocialDependencies,
} from './sessions.ts'

/** With the polling interval of the queue, about two seconds. */
const PAUSE_SECONDS = 1
/** Consecutive calls without a response after which a login fails. */
const FAILURES_MAX = 3

export interface StepDependencies extends SocialDependencies {
  stores: Stores
  log: Logger
}

/** The network's response, or why there is none. */
type StepResult = LoginState | { state: 'no_response'; isTransient: boolean } | { state: 'unreadable' }

/**
 * Sends one request to the network for a session (begin, submit a code or poll the status) and stores the response. The
 * process that increments the session's step first does it; any other process with the same job does nothing.
 */
export async function runStep(
  dependencies: StepDependencies,
  { tenantId, sessionId, step }: TenantJob & { sessionId: string; step: number },
  signal: AbortSignal,
): Promise<void> {
  const { stores, log, clock } = dependencies
  const tenant = openTenant(stores, tenantId)
  const session = await claimStep(tenant, sessionId, step, clock())
  if (!session) {
    await expireSession(tenant, sessionId, clock())
    return
  }
  let result: StepResult
  try {
    result = await callNetwork(dependencies, tenant, session, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof SocialUnavailable)) {
      // The result is unknown. The next worker repeats the call, which the connector allows.
      await releaseStep(tenant, session)
      throw error
    }
    log.warn({ err: error, session_id: sessionId }, 'the social network gave no valid response to a login')
    result = { state: 'no_response', isTransient: error.isTransient }
  }
  await recordResult(dependencies, tenant, session, result)
}

async function claimStep(tenant: Tenant, sessionId: string, step: number, now: Date): Promise<SessionRow | undefined> {
  return tenant.db
    .updateTable('social_sessions')
    .set(({ eb }) => ({
      step: step + 1,
      status: eb.case().when('status', '=', 'queued').then('running').else(eb.ref('status')).end(),
      wake_by: new Date(now.getTime() + LOST_AFTER_MS),
      updated_at: now,
    }))
    .where('session_id', '=', sessionId)
    .where('step', '=', step)
    .where('finished_at', 'is', null)
    .where('deadline_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

async function releaseStep(tenant: Tenant, { session_id, step }: SessionRow): Promise<void> {
  await tenant.db
    .updateTable('social_sessions')
    .set({ step: step - 1 })
    .where('session_id', '=', session_id)
    .where('step', '=', step)
    .execute()
}

async function callNetwork(
  { social, secrets, clock }: StepDependencies,
  tenant: Tenant,
  session: SessionRow,
  signal: AbortSignal,
): Promise<StepResult> {
  const { session_id: sessionId, credentials_sealed, code_sealed } = session
  const open = (sealed: string | null, place: string): string | null | undefined => {
    try {
      return sealed === null ? null : secrets.open(sealed, place)
    } catch {
      return undefined
    }
  }
  if (!session.is_begun) {
    const credentials = open(credentials_sealed, credentialsPlace(tenant.id, sessionId))
    if (credentials === undefined) return { state: 'unreadable' }
    const request = {
      sessionId,
      profileId: session.profile_id,
      credentials: credentials === null ? null : (JSON.parse(credentials) as { username: string; password: string }),
      country: session.country,
      expiresInSeconds: Math.max(1, Math.ceil((session.deadline_at.getTime() - clock().getTime()) / 1_000)),
    }
    return social.begin(tenant, request, signal)
  }
  const code = open(code_sealed, codePlace(tenant.id, sessionId))
  if (code === undefined) return { state: 'unreadable' }
  return code === null
    ? social.status(tenant, sessionId, signal)
    : social.submitCode(tenant, sessionId, code, session.code_count, signal)
}

/** Stores a step's result, unless the session has ended or another step has started since. */
async function recordResult(
  { jobs, clock, social }: StepDependencies,
  tenant: Tenant,
  asked: SessionRow,
  result: StepResult,
): Promise<void> {
  const { session_id: sessionId, identity_id: identityId } = asked
  const actor = asked.actor as unknown as Actor
  await tenant.transaction(async (tx) => {
    // Locked in the same order as a deletion, identity before session, so that they cannot deadlock.
    await tx.db
      .selectFrom('identities')
      .select('identity_id')
      .where('identity_id', '=', identityId)
      .forKeyShare()
      .execute()
    const session = await tx.db
      .selectFrom('social_sessions')
      .select(['session_id', 'identity_id', 'code_count', 'failures'])
      .where('session_id', '=', sessionId)
      .where('step', '=', asked.step)
      .where('finished_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (!session) return
    const now = clock()
    if (result.state === 'unreadable') return failSession(tx, session, 'credentials_unreadable', actor, now)
    if (result.state === 'failed') {
      if (asked.is_renewal && asked.profile_id) await storeCheck(tx, identityId, asked.profile_id, false, now)
      return failSession(tx, session, result.reason, actor, now)
    }
    if (result.state === 'completed') {
      await storeProfile(tx, identityId, result.profileId, now)
      await completeSession(tx, sessionId, result.profileId, now)
      const details = { session_id: sessionId, connector: social.name, profile_id: result.profileId }
      return audit(tx, { actor, action: 'identity.social_connected', ...subject(identityId), details }, now)
    }
    // A code arrived during the call. Its job is queued, so this result is outdated.
    if (session.code_count > asked.code_count) return
    const failures = result.state === 'no_response' ? session.failures + 1 : 0
    if (result.state === 'no_response' && (!result.isTransient || failures >= FAILURES_MAX)) {
      return failSession(tx, session, 'network_unavailable', actor, now)
    }
    const pauseSeconds = PAUSE_SECONDS * 2 ** failures
    await tx.db
      .updateTable('social_sessions')
      .set({
        ...(result.state === 'no_response' ? {} : progressColumns(result, asked)),
        failures,
        wake_by: new Date(now.getTime() + pauseSeconds * 1_000 + LOST_AFTER_MS),
        updated_at: now,
      })
      .where('session_id', '=', sessionId)
      .execute()
    await jobs.send(tx, SOCIAL_LOGINS, { sessionId, step: asked.step }, { startAfter: pauseSeconds })
  })
}

/** The columns for a login in progress. Secrets that the network has received are erased. */
function progressColumns(response: Exclude<LoginState, { state: 'completed' | 'failed' }>, { code_count }: SessionRow) {
  const rejected = response.state === 'awaiting_2fa' && response.codeRejected === true
  return {
    status: response.state,
    is_begun: true,
    credentials_sealed: null,
    code_sealed: null,
    ...(rejected ? { code_rejected: code_count } : {}),
  }
}

async function completeSession(tx: Tenant, sessionId: string, profileId: string, now: Date): Promise<void> {
  const ended = { status: 'completed', profile_id: profileId, finished_at: now, updated_at: now }
  await tx.db
    .updateTable('social_sessions')
    .set({ ...ended, credentials_sealed: null, code_sealed: null })
    .where('session_id', '=', sessionId)
    .execute()
}
