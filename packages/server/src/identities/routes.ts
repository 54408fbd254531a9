import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { createIdentity, deleteIdentity, readIdentity, searchIdentities, updateIdentity } from './identities.ts'
import { Identity } from './identity-object.ts'
import { CreateIdentityBody, parseIdentityChanges, parseNewIdentity, UpdateIdentityBody } from './requests.ts'

const Path = Type.Object({ identity_id: Type.String() })
const OneIdentity = success({ identity: Identity })

/** Identities: the senders that outreach is sent from. */
export function identityRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/v1/identities',
    {
      config: { access: 'identities:read' },
      schema: {
        operationId: 'listIdentities',
        summary: 'List the identities, newest first',
        tags: ['Identities'],
        querystring: Type.Object(pageParameters(100, 100)),
        response: {
          200: success({ identities: Type.Array(Identity), total_items: Type.Integer(), pagination: Pagination }),
        },
      },
    },
    async ({ tenant, query: { page = 1, limit = 100 } }) => {
      const { identities, total } = await searchIdentities(tenant, undefined, { page, limit })
      const pagination = paginationOf({ page, limit }, total)
      return { status: 'success' as const, identities, total_items: total, pagination }
    },
  )

  app.post(
    '/v1/identities',
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: 'createIdentity',
        summary: 'Create an identity',
        tags: ['Identities'],
        body: CreateIdentityBody,
        response: { 201: OneIdentity },
      },
    },
    async ({ tenant, actor, body }, reply) => {
      const identity = await createIdentity(tenant, actor, parseNewIdentity(body), clock())
      return reply.code(201).send({ status: 'success', identity })
    },
  )

  app.get(
    '/v1/identities/:identity_id',
    {
      config: { access: 'identities:read' },
      schema: {
        operationId: 'getIdentity',
        summary: 'Get an identity; its credentials are never returned',
        tags: ['Identities'],
        params: Path,
        response: { 200: OneIdentity },
      },
    },
    async ({ tenant, params }) => {
      const identity = await readIdentity(tenant, pathId(params.identity_id, 'identity'))
      return { status: 'success' as const, identity }
    },
  )

  app.put(
    '/v1/identities/:identity_id',
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: 'updateIdentity',
        summary: 'Change an identity; fields that are not sent stay',
        tags: ['Identities'],
        params: Path,
        body: UpdateIdentityBody,
        response: { 200: OneIdentity },
      },
    },
    async ({ tenant, actor, params, body }) => {
      const changes = parseIdentityChanges(body)
      const identity = await updateIdentity(tenant, actor, pathId(params.identity_id, 'identity'), changes, clock())
      return { status: 'success' as const, identity }
    },
  )

  app.delete(
    '/v1/identities/:identity_id',
    {
      config: { access: 'identities:write' },
      schema: {
        operationId: 'deleteIdentity',
        summary: 'Delete an identity with its e-mail account; agents that used it lose their default',
        tags: ['Identities'],
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), identity_id: Id }) },
      },
    },
    async ({ tenant, actor, params }) => {
      const identityId = pathId(params.identity_id, 'identity')
      await deleteIdentity(tenant, actor, identityId, clock())
      return { status: 'success' as const, deleted: true as const, identity_id: identityId }
    },
  )
}
