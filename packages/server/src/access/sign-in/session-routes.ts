import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { notFound } from '../../platform/errors.ts'
import type { App } from '../../platform/http/app-types.ts'
import { Id, pathId, success } from '../../platform/http/responses.ts'
import type { Mailer } from '../../platform/mail.ts'
import { personal } from '../../platform/personal.ts'
import { personOf } from '../authentication.ts'
import { chooseTenant } from '../sessions.ts'
import { isSetupNeeded, setUp } from '../setup.ts'
import { createTenant } from '../tenants.ts'
import { renameUser } from '../users.ts'
import { forward } from './forward.ts'
import { isRenewalDue, meOf } from './me.ts'
import { type SignInDependencies, signInWithPassword } from './password-sign-in.ts'
import { Me, MyNameBody, NewTenantBody, SetupBody, SetupResponse, SignInOptions, TenantBody } from './schema.ts'

/** Setup, the signed-in person, and the session's tenant. */
export function sessionRoutes(
  app: App,
  dependencies: SignInDependencies & {
    config: Pick<Config, 'oidc'>
    secrets: SecretBox
    mailer: Mailer | null
  },
): void {
  const { config, stores, secrets, mailer, rateLimiter, clock } = dependencies
  const { database } = stores

  app.get(
    '/api/setup',
    { config: { access: 'public' }, schema: { response: { 200: SetupResponse } } },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return { status: 'success' as const, needed: await isSetupNeeded(database) }
    },
  )

  app.post(
    '/api/setup',
    {
      config: { access: 'public', unaudited: 'tenant.created, in the new tenant, once per service' },
      schema: { body: SetupBody, response: { 201: success({ tenant_id: Id }) } },
    },
    async (request, reply) => {
      const { email, password } = request.body
      rateLimiter.checkSignIn(request.ip, reply)
      const tenantId = await setUp(stores, secrets, request.body, clock())
      await signInWithPassword(dependencies, request, reply, { email: email.trim(), password })
      return reply.code(201).send({ status: 'success', tenant_id: tenantId })
    },
  )

  app.get(
    '/api/sign-in-options',
    { config: { access: 'public' }, schema: { response: { 200: SignInOptions } } },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return {
        status: 'success' as const,
        setup_needed: await isSetupNeeded(database),
        oidc: config.oidc && { label: config.oidc.label },
        password_reset: mailer ? ('mail' as const) : ('operator' as const),
      }
    },
  )

  app.get('/api/me', { config: { access: 'signed-in' }, schema: { response: { 200: Me } } }, async (request, reply) => {
    const person = personOf(request)
    // The library extends the session, in the database and in the cookie.
    if (isRenewalDue(person.expiresAt, clock())) {
      await forward(dependencies, request, reply, { method: 'GET', path: '/get-session' })
    }
    reply.header('cache-control', 'no-store')
    return meOf(database, person, config.oidc)
  })

  app.patch(
    '/api/me',
    {
      config: { access: 'signed-in', unaudited: "a person's own name" },
      schema: { body: MyNameBody, response: { 200: success({ name: Type.String(personal('name')) }) } },
    },
    async (request) => {
      const name = await renameUser(database, personOf(request).user.id, request.body.name, clock())
      return { status: 'success' as const, name }
    },
  )

  app.post(
    '/api/tenant',
    {
      config: { access: 'signed-in', unaudited: "which of a person's tenants a session shows" },
      schema: { body: TenantBody, response: { 200: success({ tenant_id: Id }) } },
    },
    async (request) => {
      const tenantId = pathId(request.body.tenant_id, 'tenant')
      if (!(await chooseTenant(database, personOf(request), tenantId, clock()))) throw notFound('tenant')
      return { status: 'success' as const, tenant_id: tenantId }
    },
  )

  app.post(
    '/api/tenants',
    {
      config: { access: { role: 'owner' }, unaudited: 'tenant.created, in the new tenant' },
      schema: { body: NewTenantBody, response: { 201: success({ tenant_id: Id }) } },
    },
    async (request, reply) => {
      const person = personOf(request)
      const { name, time_zone: timeZone } = request.body
      const named = { name, timeZone, ownerId: person.user.id }
      const tenantId = await createTenant(stores, named, request.actor, clock())
      return reply.code(201).send({ status: 'success', tenant_id: tenantId })
    },
  )
}
