import type { FastifyRequest } from 'fastify'
import Type, { type TObject } from 'typebox'
import type { Config } from '../../config.ts'
import { normalizeEmail } from '../../platform/email.ts'
import type { App } from '../../platform/http/app-types.ts'
import { idInput } from '../../platform/http/inputs.ts'
import type { Logger } from '../../platform/log.ts'
import type { Access } from '../authentication.ts'
import type { SignedIn } from '../sessions.ts'
import { OIDC_PROVIDER } from './auth.ts'
import { type CodeDependencies, checkCode } from './check-code.ts'
import { forward } from './forward.ts'
import { CHANGE_PASSWORD, changePassword, resetPassword } from './new-password.ts'
import { finishOidcSignIn, startOidcSignIn } from './oidc-sign-in.ts'
import { mailPasswordLink, type PasswordMailDependencies } from './password-mail.ts'
import { limitSignIn, signInWithPassword } from './password-sign-in.ts'
import { Address, Code, LocalPath, Password } from './schema.ts'

const BODY_BYTES_MAX = 16 * 1024

const strict = { additionalProperties: false }
const EmptyBody = Type.Object({}, strict)
const PasswordBody = Type.Object({ password: Password }, strict)
const SignInBody = Type.Object(
  {
    email: Address,
    password: Password,
    rememberMe: Type.Optional(Type.Boolean()),
    tenant_id: Type.Optional(idInput()),
  },
  strict,
)
const AddressBody = Type.Object({ email: Address }, strict)
const NewPasswordBody = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200 }), newPassword: Password },
  strict,
)
const CodeBody = Type.Object({ code: Code, trustDevice: Type.Optional(Type.Boolean()) }, strict)

interface Forwarded {
  path: string
  access: Access
  body: TObject
  /** Values that are always sent to the library and override the caller's. */
  fixed?: object
}

/**
 * The sign-in library's endpoints that the service exposes, besides those with their own route below. The library has
 * many more (signing up, changing or deleting an account), which would bypass invitations and roles, so they are not
 * exposed.
 */
const FORWARDED: readonly Forwarded[] = [
  { path: '/sign-out', access: 'public', body: EmptyBody },
  { path: '/two-factor/enable', access: 'signed-in', body: PasswordBody },
  { path: '/two-factor/disable', access: 'signed-in', body: PasswordBody },
  { path: '/two-factor/get-totp-uri', access: 'signed-in', body: PasswordBody },
  { path: '/two-factor/generate-backup-codes', access: 'signed-in', body: PasswordBody },
  {
    path: CHANGE_PASSWORD,
    access: 'signed-in',
    body: Type.Object(
      { currentPassword: Password, newPassword: Password, revokeOtherSessions: Type.Optional(Type.Boolean()) },
      strict,
    ),
    // Sessions that were opened with the old password must end.
    fixed: { revokeOtherSessions: true },
  },
  { path: '/revoke-other-sessions', access: 'signed-in', body: EmptyBody },
]

/** Sign-in, sign-out, second factors and passwords: the sign-in library behind our own checks. */
export function authRoutes(
  app: App,
  dependencies: CodeDependencies & PasswordMailDependencies & { config: Pick<Config, 'oidc'>; log: Logger },
): void {
  const { rateLimiter, log } = dependencies
  // A missing body counts as empty, because a sign-out needs none. People leave spaces around an address.
  const tidy = async (request: FastifyRequest) => {
    if (request.body === undefined) request.body = {}
    const body = request.body as { email?: unknown } | null
    if (typeof body?.email === 'string') body.email = body.email.trim()
  }

  /** A route with this access and this strict body. */
  const accepts = <Body extends TObject>(body: Body, access: Access) => ({
    config: { access },
    bodyLimit: BODY_BYTES_MAX,
    preValidation: tidy,
    schema: { body },
  })

  for (const { path, access, body, fixed } of FORWARDED) {
    app.post(`/api/auth${path}`, accepts(body, access), async (request, reply) => {
      await limitSignIn(dependencies, request, reply)
      const body = { ...(request.body as object), ...fixed }
      if (path === CHANGE_PASSWORD) return changePassword(dependencies, request, reply, body)
      return labeled(await forward(dependencies, request, reply, { method: 'POST', path, body }), request.signedIn)
    })
  }

  app.post('/api/auth/sign-in/email', accepts(SignInBody, 'public'), async (request, reply) => {
    const { body } = request
    const accounts = await limitSignIn(dependencies, request, reply, { email: normalizeEmail(body.email) })
    return signInWithPassword(dependencies, request, reply, body, accounts)
  })

  for (const kind of ['totp', 'backup-code'] as const) {
    app.post(`/api/auth/two-factor/verify-${kind}`, accepts(CodeBody, 'public'), async (request, reply) =>
      checkCode(dependencies, request, reply, { kind, ...request.body }),
    )
  }

  app.post('/api/auth/request-password-reset', accepts(AddressBody, 'public'), async (request, reply) => {
    const email = normalizeEmail(request.body.email)
    await limitSignIn(dependencies, request, reply, { email })
    // Not awaited: the response time would reveal whether the address is known.
    mailPasswordLink(dependencies, email).catch((error) =>
      log.error({ err: error }, 'a password reset mail could not be sent'),
    )
    return { status: true, message: 'If the address has an account, a password reset link has been sent to it.' }
  })

  app.post('/api/auth/reset-password', accepts(NewPasswordBody, 'public'), async (request, reply) => {
    await limitSignIn(dependencies, request, reply)
    return resetPassword(dependencies, request, reply, request.body)
  })

  app.post(
    '/api/auth/sign-in/oauth2',
    {
      config: { access: 'public' },
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        body: Type.Object({ providerId: Type.Literal(OIDC_PROVIDER), callbackURL: Type.Optional(LocalPath) }, strict),
      },
    },
    async (request, reply) => {
      rateLimiter.checkSignIn(request.ip, reply)
      return startOidcSignIn(dependencies, request, reply, request.body.callbackURL ?? '/')
    },
  )

  // The provider redirects the browser to this path.
  app.get(
    `/api/auth/callback/${OIDC_PROVIDER}`,
    { config: { access: 'public' }, schema: { querystring: Type.Object({}, { additionalProperties: true }) } },
    async (request, reply) => {
      rateLimiter.checkSignIn(request.ip, reply)
      await finishOidcSignIn(dependencies, request, reply)
      return reply.send()
    },
  )
}

/** Replaces the label of a second factor: the library uses the address under which it stores the account. */
function labeled(body: Record<string, unknown>, signedIn: SignedIn | null): Record<string, unknown> {
  const { totpURI } = body
  if (typeof totpURI !== 'string' || signedIn === null) return body
  return {
    ...body,
    totpURI: totpURI.replace(/[\w-]+%40unverified\.invalid/, encodeURIComponent(signedIn.user.email)),
  }
}
