import { requireSignature, rotateIdentitySecret } from '../access/identification-settings.ts'
import { readTenantObject } from '../access/tenant-object.ts'
import { createTenant } from '../access/tenants.ts'
import { audit } from '../audit/log.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { ServiceError } from '../platform/errors.ts'
import { openTenant } from '../platform/tenant.ts'
import { about, audited } from './audited.ts'
import { type Command, existingTenant, required, tenant, type Values } from './command.ts'

/** What `cdsctl tenant …` can do. */
export const TENANT_COMMANDS: Record<string, Command> = {
  'tenant create': {
    summary: 'Create a tenant',
    options: { name: required('NAME') },
    run: async ({ stores }, { name }, now) => {
      const tenantId = await stores.database.transaction().execute(async (database) => {
        const id = await createTenant(database, String(name), now)
        const entry = { actor: { kind: 'command_line' }, ...about('tenant', 'created', id) } as const
        await audit(openTenant({ ...stores, database }, id), entry, now)
        return id
      })
      return { tenant_id: tenantId }
    },
  },
  'tenant update': {
    summary: 'Set whether identifications from pages must be signed',
    options: { tenant, 'require-signed-identification': required('on|off') },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const isRequired = switchOf(values, 'require-signed-identification')
      await audited(
        session,
        tenantId,
        now,
        (tx) => requireSignature(tx, isRequired),
        () => ({
          ...about('tenant', 'updated', tenantId),
          details: { require_signed_identification: isRequired },
        }),
      )
      return { ...(await readTenantObject(session.stores.database, session.tenant(tenantId), now)) }
    },
  },
  'tenant identity-secret': {
    summary: 'Create or rotate the identity secret, which signs identifications; it is shown once',
    options: { tenant },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const secrets = await openSecretBox(session.config)
      const { secret, previousUntil } = await audited(
        session,
        tenantId,
        now,
        (tx) => rotateIdentitySecret(tx, secrets, now),
        () => about('tenant', 'identity_secret_rotated', tenantId),
      )
      return { identity_secret: secret, previous_valid_until: previousUntil?.toISOString() ?? null }
    },
  },
}

function switchOf(values: Values, name: string): boolean {
  const text = values[name]
  if (text === 'on' || text === 'off') return text === 'on'
  throw new ServiceError(400, 'invalid_option', `--${name} must be on or off.`)
}
