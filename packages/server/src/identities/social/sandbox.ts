import { createHash } from 'node:crypto'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import {
  type LoginReason,
  type LoginState,
  type SendOutcome,
  type SocialConnector,
  type SocialInvitation,
  SocialUnavailable,
} from './connector.ts'

/** The user names, up to the @, that `docs/social-gateway.md` documents. */
const SCENARIOS = [
  '2fa',
  '2fa-locked',
  'email',
  'timeout',
  'slow',
  'locked',
  'wrong',
  'expired',
  'refuse',
  'down',
] as const
type Scenario = (typeof SCENARIOS)[number] | 'ok'

const ACCEPTED_CODE = '123456'
const CODES_MAX = 3
const POLLS_UNTIL_DONE = 3
const PROFILE = /^sandbox-(.+)-[0-9a-f]{12}$/

/** The first state of each scenario. Others complete immediately. */
const FIRST_STATES: Partial<Record<Scenario, LoginState>> = {
  '2fa': { state: 'awaiting_2fa' },
  '2fa-locked': { state: 'awaiting_2fa' },
  email: { state: 'awaiting_email' },
  timeout: { state: 'awaiting_email' },
  slow: { state: 'running' },
  locked: { state: 'failed', reason: 'account_locked' },
  wrong: { state: 'failed', reason: 'credentials_rejected' },
}

type SandboxLogin = { profile_id: string; scenario: string; state: string; reason: string | null }

/**
 * A simulated network. The user name selects the scenario, and sent messages are stored in a table. Logins are stored
 * in the database, so that they survive a restart of the process, as with a real network.
 */
export function createSandbox(clock: Clock): SocialConnector {
  return {
    name: 'sandbox',
    begin: async (tenant, { sessionId, profileId, credentials }) => {
      const scenario = credentials === null ? scenarioOfProfile(profileId ?? '') : scenarioOf(credentials.username)
      if (scenario === 'down') throw unreachable()
      const profile = credentials === null ? (profileId ?? '') : profileIdOf(tenant, scenario, credentials.username)
      const firstState = credentials === null ? renewalOf(scenario) : FIRST_STATES[scenario]
      const state = firstState ?? { state: 'completed', profileId: profile }
      await tenant.db
        .insertInto('social_sandbox_logins')
        .values({ session_id: sessionId, scenario, profile_id: profile, ...columnsOf(state), created_at: clock() })
        .onConflict((existing) => existing.column('session_id').doNothing())
        .execute()
      return stateOf(await readLogin(tenant, sessionId))
    },
    status: async (tenant, sessionId) => {
      const login = await tenant.db
        .updateTable('social_sandbox_logins')
        .set(({ eb }) => ({ polls: eb('polls', '+', 1) }))
        .where('session_id', '=', sessionId)
        .returning(['profile_id', 'scenario', 'state', 'reason', 'polls'])
        .executeTakeFirst()
      if (!login) throw new SocialUnavailable('The sandbox does not know this login.', false)
      const isDone = login.polls >= POLLS_UNTIL_DONE && ['slow', 'email'].includes(login.scenario)
      return isDone
        ? updateLogin(tenant, sessionId, { state: 'completed', profileId: login.profile_id })
        : stateOf(login)
    },
    submitCode: async (tenant, sessionId, code, number) => {
      const login = await readLogin(tenant, sessionId)
      const response = responseTo(login, code, number)
      await tenant.db
        .updateTable('social_sandbox_logins')
        .set({ codes: number })
        .where('session_id', '=', sessionId)
        .execute()
      return updateLogin(tenant, sessionId, response)
    },
    check: async (_tenant, profileId) => scenarioOfProfile(profileId) !== 'expired',
    sendMessage: (tenant, profileId, { message, ...envelope }) =>
      storeInOutbox(tenant, { profileId, kind: 'message', ...envelope, text: message, now: clock() }),
    connect: (tenant, profileId, { note = null, ...envelope }) =>
      storeInOutbox(tenant, { profileId, kind: 'connect', ...envelope, text: note, now: clock() }),
  }
}

function responseTo(login: SandboxLogin, code: string, number: number): LoginState {
  if (login.state !== 'awaiting_2fa') return stateOf(login)
  if (login.scenario === '2fa-locked') return { state: 'failed', reason: 'account_locked' }
  if (code === ACCEPTED_CODE) return { state: 'completed', profileId: login.profile_id }
  return number >= CODES_MAX
    ? { state: 'failed', reason: 'code_rejected' }
    : { state: 'awaiting_2fa', codeRejected: true }
}

/** A login without credentials succeeds while the stored session is valid. */
function renewalOf(scenario: Scenario): LoginState | undefined {
  return scenario === 'expired' ? { state: 'failed', reason: 'credentials_rejected' } : undefined
}

async function readLogin(tenant: Tenant, sessionId: string): Promise<SandboxLogin> {
  return tenant.db
    .selectFrom('social_sandbox_logins')
    .select(['profile_id', 'scenario', 'state', 'reason'])
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
}

async function updateLogin(tenant: Tenant, sessionId: string, state: LoginState): Promise<LoginState> {
  await tenant.db
    .updateTable('social_sandbox_logins')
    .set(columnsOf(state))
    .where('session_id', '=', sessionId)
    .execute()
  return state
}

function columnsOf(state: LoginState): { state: string; reason: string | null } {
  return { state: state.state, reason: state.state === 'failed' ? state.reason : null }
}

function stateOf({ state, reason, profile_id }: SandboxLogin): LoginState {
  if (state === 'completed') return { state, profileId: profile_id }
  if (state === 'failed') return { state, reason: reason as LoginReason }
  return { state: state as 'running' | 'awaiting_2fa' | 'awaiting_email' }
}

interface OutboxMessage extends Omit<SocialInvitation, 'note'> {
  profileId: string
  kind: 'message' | 'connect'
  text: string | null
  now: Date
}

/** Stores a message that a real network would deliver, once per key. */
async function storeInOutbox(tenant: Tenant, outgoing: OutboxMessage): Promise<SendOutcome> {
  const { profileId, kind, recipientProfileUrl, idempotencyKey, text, now } = outgoing
  const scenario = scenarioOfProfile(profileId)
  const recipient = new URL(recipientProfileUrl).pathname.replace(/\/$/, '').split('/').at(-1)
  if (recipient === 'unreachable') throw unreachable()
  if (scenario === 'expired') return { outcome: 'session_expired' }
  if (scenario === 'refuse') return { outcome: 'refused', reason: 'limit_reached' }
  if (recipient === 'nobody') return { outcome: 'refused', reason: 'recipient_not_found' }
  await tenant.db
    .insertInto('social_sandbox_outbox')
    .values({
      external_id: newId(),
      idempotency_key: idempotencyKey,
      profile_id: profileId,
      kind,
      recipient_profile_url: recipientProfileUrl,
      text,
      created_at: now,
    })
    .onConflict((existing) => existing.column('idempotency_key').doNothing())
    .execute()
  const { external_id } = await tenant.db
    .selectFrom('social_sandbox_outbox')
    .select('external_id')
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirstOrThrow()
  return { outcome: 'sent', externalId: external_id }
}

function scenarioOf(username: string): Scenario {
  const name = username.trim().toLowerCase().split(/[@+]/)[0]
  return SCENARIOS.find((scenario) => scenario === name) ?? 'ok'
}

/** A profile of another connector, stored before the configuration changed, has no session here. */
function scenarioOfProfile(profileId: string): Scenario {
  const [, scenario] = PROFILE.exec(profileId) ?? []
  return scenario === undefined ? 'expired' : scenarioOf(scenario)
}

/** The same user name has the same profile id, which reveals only its scenario. */
function profileIdOf(tenant: Tenant, scenario: Scenario, username: string): string {
  const name = `${tenant.id} ${username.trim().toLowerCase()}`
  return `sandbox-${scenario}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}

function unreachable(): SocialUnavailable {
  return new SocialUnavailable('The sandbox simulates a network that does not respond.', true)
}
