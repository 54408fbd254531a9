import type { ExpressionBuilder } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, VALUE_OF_KEY, WITHHELD, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { ContactRow } from './contact-row.ts'
import { PropertyProvenance, type PropertyValue } from './properties.ts'

/** A source's record of a contact: `{key: {value, updated_at}}`. */
export type SourceFields = Record<
  string,
  {
    value: PropertyValue | null
    updated_at: string
    /** The text that was written to the source, if it stored something else, `value`, for it. */
    written?: string
    /** Of an opt-out: the ids of the source's records that say it. See writing/opt-outs.ts. */
    said_by?: string[]
  }
>

const Optional = Type.Optional(Timestamp)

export const UnifiedProfile = Type.Object(
  {
    _id: Id,
    source_count: Type.Integer(),
    sources: Type.Record(
      Type.String(),
      Type.Object({
        external_id: Type.Optional(Type.String(TEXT)),
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
            value: Type.Unknown(VALUE_OF_KEY),
            sources: Type.Array(PropertyProvenance),
          }),
        ),
        all_sources: Type.Array(Type.String(WORD)),
        has_conflict: Type.Boolean(),
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    enriched_at: Nullable(Timestamp),
    raw_data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), WITHHELD)),
  },
  { title: 'UnifiedProfile' },
)

type UnifiedProfile = Type.Static<typeof UnifiedProfile>
type Field = UnifiedProfile['profile'][string]

/** A column `source_records` for a query of contacts: every source's record, oldest first. */
export function sourceRecords(from: ExpressionBuilder<TenantTables, 'contacts'>) {
  return jsonArrayFrom(
    from
      .selectFrom('contact_sources')
      .select(['source', 'external_id', 'fields', 'first_seen_at', 'updated_at', 'synced_at', 'enriched_at', 'raw'])
      .whereRef('contact_sources.contact_id', '=', 'contacts.contact_id')
      .orderBy('first_seen_at')
      .orderBy('source'),
  ).as('source_records')
}

type DateOrText = string | Date

interface SourceRecord {
  source: string
  external_id: string | null
  fields: unknown
  raw: unknown
  first_seen_at: DateOrText
  updated_at: DateOrText
  synced_at: DateOrText | null
  enriched_at: DateOrText | null
}

/** The values of all sources of a contact: conflicts are shown, not resolved. */
export function unifiedProfileOf(
  contact: ContactRow,
  records: readonly SourceRecord[],
  withRaw: boolean,
): UnifiedProfile {
  const sources: UnifiedProfile['sources'] = {}
  const profile: Record<string, Field> = {}
  const rawData: Record<string, unknown> = {}
  for (const record of records) {
    const fields = currentFields(record.fields as SourceFields)
    sources[record.source] = {
      ...(record.external_id === null ? {} : { external_id: record.external_id }),
      first_seen_at: isoOf(record.first_seen_at),
      updated_at: isoOf(record.updated_at),
      ...(record.synced_at ? { synced_at: isoOf(record.synced_at) } : {}),
      ...(record.enriched_at ? { enriched_at: isoOf(record.enriched_at) } : {}),
    }
    rawData[record.source] = record.raw ?? valuesOf(fields)
    for (const [key, field] of Object.entries(fields)) profile[key] = withValue(profile[key], record.source, field)
  }
  const { email: attribution } = contact.properties_provenance as Provenance
  if (contact.email !== null && attribution) profile.email = withOwnEmail(profile.email, contact.email, attribution)
  return {
    _id: contact.contact_id,
    source_count: records.length,
    sources,
    profile,
    created_at: contact.created_at.toISOString(),
    updated_at: contact.updated_at.toISOString(),
    enriched_at: contact.enriched_at?.toISOString() ?? null,
    ...(withRaw ? { raw_data: rawData } : {}),
  }
}

/** The values of a source, without the removals that are stored for comparison with older writes. */
function currentFields(fields: SourceFields): Record<string, CurrentField> {
  const current = Object.entries(fields).flatMap(([key, { value, updated_at }]) =>
    value === null ? [] : [[key, { value, updated_at }] as const],
  )
  return Object.fromEntries(current)
}

interface CurrentField {
  value: PropertyValue
  updated_at: string
}

type Provenance = Record<string, { source: string; updated_at: string }>

/** JSON has no dates, so those of a JSON column arrive as texts. */
function isoOf(date: DateOrText): string {
  return new Date(date).toISOString()
}

/**
 * The field with the contact's email: its source may have sent another one since, which does not change the contact.
 */
function withOwnEmail(field: Field | undefined, email: string, { source, updated_at }: Provenance[string]): Field {
  if (field?.unique_values.some(({ value }) => value === email)) return field
  const { all_sources, ...rest } = withValue(field, source, { value: email, updated_at })
  return { ...rest, all_sources: [...new Set(all_sources)] }
}

/** Adds a source's value to a field; equal values of several sources are grouped. */
function withValue(field: Field | undefined, source: string, { value, updated_at }: CurrentField): Field {
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

function valuesOf(fields: Record<string, CurrentField>): Record<string, PropertyValue> {
  return Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value]))
}
