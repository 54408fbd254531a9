import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ContactRow } from './contact-row.ts'
import type { PropertyValue } from './properties.ts'

/** A source's record of a contact: `{key: {value, updated_at}}`. */
export type SourceFields = Record<string, { value: PropertyValue; updated_at: string }>

const Optional = Type.Optional(Timestamp)

export const UnifiedProfile = Type.Object({
  _id: Id,
  source_count: Type.Integer(),
  sources: Type.Record(
    Type.String(),
    Type.Object({
      external_id: Type.Optional(Type.String()),
      first_seen_at: Optional,
      updated_at: Optional,
      synced_at: Optional,
      enriched_at: Optional,
    }),
  ),
  profile: Type.Record(
    Type.String(),
    Type.Object({
      unique_values: Type.Array(
        Type.Object({
          value: Type.Unknown(),
          sources: Type.Array(Type.Object({ source: Type.String(), updated_at: Timestamp })),
        }),
      ),
      all_sources: Type.Array(Type.String()),
      has_conflict: Type.Boolean(),
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
  enriched_at: Nullable(Timestamp),
  raw_data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

type UnifiedProfile = Type.Static<typeof UnifiedProfile>
type Field = UnifiedProfile['profile'][string]

/** What each source says of a contact, beside one another: conflicts are shown, not resolved. */
export async function readUnifiedProfile(
  tenant: Tenant,
  contact: ContactRow,
  withRaw: boolean,
): Promise<UnifiedProfile> {
  const rows = await tenant.db
    .selectFrom('contact_sources')
    .select(['source', 'external_id', 'fields', 'first_seen_at', 'updated_at', 'synced_at', 'enriched_at', 'raw'])
    .where('contact_id', '=', contact.contact_id)
    .orderBy('first_seen_at')
    .orderBy('source')
    .execute()
  const sources: UnifiedProfile['sources'] = {}
  const profile: Record<string, Field> = {}
  const rawData: Record<string, unknown> = {}
  for (const row of rows) {
    sources[row.source] = {
      ...(row.external_id === null ? {} : { external_id: row.external_id }),
      first_seen_at: row.first_seen_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      ...(row.synced_at ? { synced_at: row.synced_at.toISOString() } : {}),
      ...(row.enriched_at ? { enriched_at: row.enriched_at.toISOString() } : {}),
    }
    rawData[row.source] = row.raw ?? valuesOf(row.fields as SourceFields)
    for (const [key, field] of Object.entries(row.fields as SourceFields)) {
      profile[key] = withValue(profile[key], row.source, field)
    }
  }
  return {
    _id: contact.contact_id,
    source_count: rows.length,
    sources,
    profile,
    created_at: contact.created_at.toISOString(),
    updated_at: contact.updated_at.toISOString(),
    enriched_at: contact.enriched_at?.toISOString() ?? null,
    ...(withRaw ? { raw_data: rawData } : {}),
  }
}

/** Adds one source's value to a field; equal values of several sources stand together. */
function withValue(field: Field | undefined, source: string, { value, updated_at }: SourceFields[string]): Field {
  const values = field?.unique_values ?? []
  const entry = { source, updated_at }
  const same = values.findIndex((known) => JSON.stringify(known.value) === JSON.stringify(value))
  const unique_values =
    same >= 0
      ? values.map((known, index) => (index === same ? { ...known, sources: [...known.sources, entry] } : known))
      : [...values, { value, sources: [entry] }]
  return {
    unique_values,
    all_sources: [...(field?.all_sources ?? []), source],
    has_conflict: unique_values.length > 1,
  }
}

function valuesOf(fields: SourceFields): Record<string, PropertyValue> {
  return Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value]))
}
