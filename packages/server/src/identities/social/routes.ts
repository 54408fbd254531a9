import Type from 'typebox'
import type { App } from '../../platform/http/app-types.ts'
import { pathId } from '../../platform/http/responses.ts'
import { checkSocial } from './check.ts'
import { submitCode } from './codes.ts'
import {
  CheckAnswer,
  CodeAnswer,
  CodeBody,
  LoginAnswer,
  LoginBody,
  loginResult,
  parseLogin,
  StatusAnswer,
  statusAnswer,
} from './requests.ts'
import { readSession, type SocialDependencies, startLogin } from './sessions.ts'
import { waitForWord } from './wait.ts'

/** Networks refuse wrong credentials soon; whoever is let in, or asked for more, is told by the status call. */
const LOGIN_WAIT_MS = 10_000
const CODE_WAIT_MS = 20_000

const IdentityPath = Type.Object({ identity_id: Type.String() })
const SessionPath = Type.Object({ identity_id: Type.String(), session_id: Type.String() })

interface Dependencies extends SocialDependencies {
  /** A caller that waits for the network must not hold up the end of the service. */
  isClosing(): boolean
}

/** The flow that connects an identity to the social network, under both names of the network. */
export function socialRoutes(app: App, dependencies: Dependencies): void {
  for (const network of ['social', 'linkedin'] as const) addRoutes(app, dependencies, network)
}

function addRoutes(app: App, dependencies: Dependencies, network: 'social' | 'linkedin'): void {
  const { clock, social, isClosing } = dependencies
  const base = `/v1/identities/:identity_id/${network}`
  const tags = ['Identities']
  const alias = network === 'social' ? '' : ' (the same as under /social)'

  app.post(
    `${base}/login`,
    {
      config: { access: 'identities:write' },
      // All of the body is optional, the body itself too.
      preValidation: async (request) => {
        if (request.body === undefined) request.body = {}
      },
      schema: {
        operationId: `${network}Login`,
        summary: `Log an identity in to the social network${alias}`,
        tags,
        params: IdentityPath,
        body: LoginBody,
        response: { 200: LoginAnswer },
      },
    },
    async (request) => {
      const { tenant, params, body, actor } = request
      const login = parseLogin(body)
      const session = await startLogin(tenant, dependencies, pathId(params.identity_id, 'identity'), login, actor)
      const isGivenUp = () => isClosing() || request.raw.socket.destroyed
      await waitForWord(tenant, clock, session, LOGIN_WAIT_MS, isGivenUp)
      const notice = social.name === 'sandbox' ? ' The network is the sandbox: nothing leaves this service.' : ''
      return {
        status: 'success' as const,
        message: `The login is queued. Poll its status every 2 to 3 seconds.${notice}`,
        identity_id: session.identity_id,
        login_result: loginResult(session),
      }
    },
  )

  app.get(
    `${base}/status/:session_id`,
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: `${network}LoginStatus`,
        summary: `Get how a login stands; poll until it is completed or failed${alias}`,
        tags,
        params: SessionPath,
        response: { 200: StatusAnswer },
      },
    },
    async ({ tenant, params }) => {
      const [identityId, sessionId] = idsOf(params)
      return statusAnswer(await readSession(tenant, identityId, sessionId, clock()))
    },
  )

  app.post(
    `${base}/code/:session_id`,
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: `${network}LoginCode`,
        summary: `Send the two-factor code that the network asked for${alias}`,
        tags,
        params: SessionPath,
        body: CodeBody,
        response: { 200: CodeAnswer },
      },
    },
    async (request) => {
      const { tenant, params, body } = request
      const [identityId, sessionId] = idsOf(params)
      const submitted = await submitCode(tenant, dependencies, identityId, sessionId, body.code)
      const isGivenUp = () => isClosing() || request.raw.socket.destroyed
      const session = await waitForWord(tenant, clock, submitted, CODE_WAIT_MS, isGivenUp)
      return { status: 'success' as const, session_id: sessionId, login_result: loginResult(session) }
    },
  )

  app.get(
    `${base}/check`,
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: `${network}Check`,
        summary: `Ask the network whether an identity's session is valid${alias}`,
        tags,
        params: IdentityPath,
        response: { 200: CheckAnswer },
      },
    },
    async ({ tenant, params }) => {
      const checked = await checkSocial(tenant, dependencies, pathId(params.identity_id, 'identity'))
      return { status: 'success' as const, ...checked }
    },
  )
}

function idsOf(params: { identity_id: string; session_id: string }): [identityId: string, sessionId: string] {
  return [pathId(params.identity_id, 'identity'), pathId(params.session_id, 'login session')]
}
