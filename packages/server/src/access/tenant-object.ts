import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { readIdentificationSettings } from './identification-settings.ts'
import { readTenant } from './tenants.ts'

export const TenantObject = Type.Object(
  {
    tenant_id: Id,
    _id: Id,
    name: Type.String(LABEL),
    time_zone: Type.String({
      description: 'The IANA time zone in which the dashboard shows times. Default: UTC.',
      ...WORD,
    }),
    require_signed_identification: Type.Boolean({
      description: 'Whether identifications that pages send without a valid user_hash are ignored.',
    }),
    identity_secret: Nullable(
      Type.Object(
        {
          created_at: Timestamp,
          previous_valid_until: Nullable(Timestamp),
        },
        { description: 'When the identity secret was created; null if there is none.' },
      ),
    ),
    personal_properties: Type.Array(Type.String(WORD), {
      description:
        'Names of properties and of fields in the data of events that are hidden from AI agents, besides names, addresses and other personal values.',
    }),
    visible_properties: Type.Array(Type.String(WORD), {
      description:
        'Names of properties and of fields in the data of events that AI agents see, although their names or their values look personal.',
    }),
    ignored_ids: Type.Array(Type.String(WORD), {
      description:
        'Words that are no user id, visitor id or id of a record, besides `undefined`, `null`, `anonymous` and other words that name nobody.',
    }),
    closed_at: Nullable(Timestamp, 'When an owner closed it; null while it is open.'),
    deletes_at: Nullable(Timestamp, 'When it will be deleted, if it is not reopened; null while it is open.'),
    created_at: Timestamp,
  },
  { title: 'Tenant' },
)
export type TenantObject = Type.Static<typeof TenantObject>

/** A tenant as the API and the command line return it. */
export async function readTenantObject(tenant: Tenant, now: Date): Promise<TenantObject> {
  const [{ name, timeZone, chosen, closing, createdAt }, settings] = await Promise.all([
    readTenant(tenant),
    readIdentificationSettings(tenant, now),
  ])
  const { requiresSignature, secretCreatedAt, previousUntil, ignoredIds } = settings
  return {
    tenant_id: tenant.id,
    _id: tenant.id,
    name,
    time_zone: timeZone,
    require_signed_identification: requiresSignature,
    identity_secret: secretCreatedAt && {
      created_at: secretCreatedAt.toISOString(),
      previous_valid_until: previousUntil?.toISOString() ?? null,
    },
    personal_properties: chosen.personal,
    visible_properties: chosen.visible,
    ignored_ids: ignoredIds,
    closed_at: closing?.closedAt.toISOString() ?? null,
    deletes_at: closing?.deletesAt.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  }
}
