import Type from 'typebox'
import { audit } from '../audit/log.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { App } from '../platform/http/app-types.ts'
import { Nullable, success, Timestamp } from '../platform/http/responses.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { requireSignature, rotateIdentitySecret } from './identification-settings.ts'
import { readTenantObject, TenantObject } from './tenant-object.ts'

interface TenantDependencies {
  stores: Stores
  secrets: SecretBox
  clock: Clock
}

const Answer = { 200: success({ tenant: TenantObject }) }

const UpdateBody = Type.Object(
  {
    require_signed_identification: Type.Optional(
      Type.Boolean({ description: 'Whether to leave out identifications that pages send without a valid user_hash.' }),
    ),
  },
  { additionalProperties: false, examples: [{ require_signed_identification: true }] },
)

/** The tenant of the key: what it is called, and how its pages prove who a visitor is. */
export function tenantRoutes(app: App, { stores, secrets, clock }: TenantDependencies): void {
  app.get(
    '/v1/tenant',
    {
      config: { access: 'settings:read' },
      schema: { operationId: 'getTenant', summary: 'Get the tenant', tags: ['Settings'], response: Answer },
    },
    async ({ tenant }) => ({
      status: 'success' as const,
      tenant: await readTenantObject(stores.database, tenant, clock()),
    }),
  )

  app.patch(
    '/v1/tenant',
    {
      config: { access: 'settings:write' },
      schema: {
        operationId: 'updateTenant',
        summary: "Change the tenant's settings",
        tags: ['Settings'],
        body: UpdateBody,
        response: Answer,
      },
    },
    async ({ tenant, actor, body: { require_signed_identification: isRequired } }) => {
      const now = clock()
      if (isRequired !== undefined) {
        await tenant.transaction(async (tx) => {
          await requireSignature(tx, isRequired)
          const details = { require_signed_identification: isRequired }
          await audit(tx, { actor, ...entryOf('tenant.updated', tenant.id), details }, now)
        })
      }
      return { status: 'success' as const, tenant: await readTenantObject(stores.database, tenant, now) }
    },
  )

  app.post(
    '/v1/tenant/identity-secret',
    {
      config: { access: 'settings:write' },
      schema: {
        operationId: 'rotateIdentitySecret',
        summary: 'Create or rotate the identity secret',
        description:
          'Returns the secret, which is never shown again. The previous secret stays valid for 24 hours; the one before it stops working. To invalidate a leaked secret at once, rotate twice.',
        tags: ['Settings'],
        response: {
          201: success({
            identity_secret: Type.String({ description: 'The HMAC-SHA256 key that computes a user_hash.' }),
            previous_valid_until: Nullable(Timestamp),
          }),
        },
      },
    },
    async ({ tenant, actor }, reply) => {
      const now = clock()
      const { secret, previousUntil } = await tenant.transaction(async (tx) => {
        const rotated = await rotateIdentitySecret(tx, secrets, now)
        await audit(tx, { actor, ...entryOf('tenant.identity_secret_rotated', tenant.id) }, now)
        return rotated
      })
      return reply.code(201).send({
        status: 'success',
        identity_secret: secret,
        previous_valid_until: previousUntil?.toISOString() ?? null,
      })
    },
  )
}

function entryOf(action: string, tenantId: string) {
  return { action, subjectKind: 'tenant', subjectId: tenantId }
}
