import Type from 'typebox'
import { idInPath, type Operation, operationsWith } from '../../operations/declare.ts'
import { WORD } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { subject } from '../identities.ts'
import { IdentityPath } from '../operations.ts'
import { submitCode } from './codes.ts'
import { LOGIN_ERRORS } from './failures.ts'
import { profileOf, storeCheck } from './profiles.ts'
import {
  Check,
  Code,
  CodeResponse,
  LoginInput,
  LoginResponse,
  LoginStatus,
  loginResult,
  loginStatus,
  parseLogin,
} from './requests.ts'
import { requireIdentity, type SendDependencies, toServiceError } from './send.ts'
import { readSession, type SocialDependencies, startLogin } from './sessions.ts'
import { waitForNetwork } from './wait.ts'

/** Services that these operations need. */
export type SocialServices = SocialDependencies

const operation = operationsWith<SocialServices>()
const tag = 'Identities'
/** Networks reject wrong credentials quickly. Later results are returned by the status call. */
const LOGIN_WAIT_MS = 10_000
const CODE_WAIT_MS = 20_000

const SessionPath = { ...IdentityPath, session_id: idInPath('login session') }

/** The calls that connect an identity to the social network, under both path names. */
export const SOCIAL_OPERATIONS = [...flow('social', ''), ...flow('linkedin', ' (the same as social)')]

function flow(network: 'social' | 'linkedin', alias: string): Operation<SocialServices>[] {
  const base = `/v1/identities/:identity_id/${network}` as const
  const scope = 'identities:write'
  return [
    operation({
      name: `${network}Login`,
      tag,
      http: `POST ${base}/login`,
      command: `identity ${network}-login`,
      scope,
      summary: `Log an identity in to the social network${alias}`,
      input: { ...IdentityPath, ...LoginInput },
      output: LoginResponse,
      example: { username: 'ada@example.com', password: 'correct horse', country: 'GB' },
      forAudit: { connector: Type.String(WORD), renews: Type.Boolean() },
      errors: LOGIN_ERRORS,
      async run({ tenant, actor, ...dependencies }, { identity_id, ...login }) {
        const session = await startLogin(tenant, dependencies, identity_id, parseLogin(login), actor)
        const isSandbox = dependencies.social.name === 'sandbox'
        const notice = isSandbox ? ' The network is a sandbox: nothing leaves this service.' : ''
        return {
          message: `The login is queued. Poll its status every 2 to 3 seconds.${notice}`,
          identity_id: session.identity_id,
          login_result: loginResult(session),
          connector: dependencies.social.name,
          renews: session.is_renewal,
        }
      },
      // A wrong password is rejected within the wait.
      async after({ tenant, clock, isGivenUp }, { identity_id, login_result: { session_id } }) {
        await waitForNetwork(tenant, clock, { identity_id, session_id }, LOGIN_WAIT_MS, isGivenUp)
        return {}
      },
      audit: ({ identity_id, login_result: { session_id }, connector, renews }) => ({
        action: 'identity.social_login_started',
        ...subject(identity_id),
        details: { session_id, connector, renews },
      }),
    }),
    operation({
      name: `${network}LoginStatus`,
      tag,
      http: `GET ${base}/status/:session_id`,
      command: `identity ${network}-status`,
      scope,
      summary: `Get the status of a login; poll until it is completed or failed${alias}`,
      input: SessionPath,
      output: LoginStatus,
      run: async ({ tenant, now }, { identity_id, session_id }) =>
        loginStatus(await readSession(tenant, identity_id, session_id, now)),
    }),
    operation({
      name: `${network}LoginCode`,
      tag,
      http: `POST ${base}/code/:session_id`,
      command: `identity ${network}-code`,
      scope,
      summary: `Submit the two-factor code that the network requested${alias}`,
      input: { ...SessionPath, ...Code },
      output: CodeResponse,
      example: { code: '123456' },
      unaudited: 'the end of the login has an entry',
      // A late code returns the login's failure, with 409 instead of 503 for network_unavailable.
      errors: ['409 no_code_awaited', '409 network_unavailable', ...LOGIN_ERRORS],
      isAtomic: true,
      async run({ tenant, ...dependencies }, { identity_id, session_id, code }) {
        const session = await submitCode(tenant, dependencies, identity_id, session_id, code)
        return { session_id, login_result: loginResult(session) }
      },
      async after({ tenant, clock, isGivenUp }, _output, path) {
        return { login_result: loginResult(await waitForNetwork(tenant, clock, path, CODE_WAIT_MS, isGivenUp)) }
      },
    }),
    operation({
      name: `${network}Check`,
      tag,
      http: `GET ${base}/check`,
      command: `identity ${network}-check`,
      scope,
      summary: `Check with the network whether an identity's session is valid${alias}`,
      input: IdentityPath,
      output: Check,
      errors: ['503 social_unavailable'],
      run: ({ tenant, ...dependencies }, { identity_id }) => checkSocial(tenant, dependencies, identity_id),
    }),
  ]
}

/**
 * Checks with the network whether the identity's session is still valid, and stores the result.
 * @throws ServiceError 404 for an unknown identity, 503 `social_unavailable`.
 */
async function checkSocial(tenant: Tenant, { social, clock }: SendDependencies, identityId: string): Promise<Check> {
  await requireIdentity(tenant, identityId)
  const profileId = await profileOf(tenant, identityId)
  // Read before the request, so that the result never looks newer than a login that ends during it.
  const now = clock()
  if (profileId === null) return { connected: false, profile_id: null, checked_at: now.toISOString() }
  const connected = await social.check(tenant, profileId).catch((error) => {
    throw toServiceError(error)
  })
  await storeCheck(tenant, identityId, profileId, connected, now)
  return { connected, profile_id: profileId, checked_at: now.toISOString() }
}
