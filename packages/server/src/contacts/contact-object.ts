import Type from 'typebox'
import { etagOf } from '../operations/etag.ts'
import { ContactId, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { ABOUT_CONTACT, valueNamedBy, WORD } from '../platform/personal.ts'
import { consentOf } from './consent.ts'
import { type ContactRow, propertiesOf } from './contact-row.ts'
import type { RecentNotes } from './notes/notes.ts'
import { Note } from './notes/schema.ts'
import { ContactProperties, type Properties, PropertyProvenance, type PropertyValue } from './properties.ts'
import { SUMMARY_PROPERTIES } from './property-catalogue.ts'
import { ContactScores } from './scores.ts'

const Provenance = Type.Record(Type.String(), PropertyProvenance)

const Consent = Type.Object(
  {
    property: Type.String({ examples: ['unsubscribed'], ...WORD }),
    value: Type.Unsafe<PropertyValue>(
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.Unknown())], {
        examples: [true],
        ...valueNamedBy('property'),
      }),
    ),
    rule: Type.Enum(['do_not_contact', 'unsubscribed', 'bounced'], {
      description: 'The guardrail that outreach to the contact breaks; `bounced` concerns only mail.',
    }),
  },
  {
    title: 'Consent',
    description:
      'The property that decides that the contact is not written to; null if none does. Suppressed addresses are listed separately.',
  },
)

const FIELDS = {
  contact_id: ContactId,
  _id: Type.String({
    format: 'uuid',
    description: 'Transitional alias of contact_id; will be removed.',
    ...ABOUT_CONTACT,
  }),
  properties: ContactProperties,
  consent: Nullable(Consent),
  associations: Type.Object({ companies: Type.Array(Id) }),
  company_id: Nullable(Id),
  first_seen_at: Timestamp,
  segment_ids: Type.Array(Id),
  creation_source: Type.String({ examples: ['manual'], ...WORD }),
  created_at: Timestamp,
  updated_at: Timestamp,
  notes: Type.Array(Note),
  notes_truncated: Type.Optional(
    Type.Literal(true, {
      description: 'Older notes did not fit into the response; read them with GET /v1/contacts/:contact_id/notes.',
    }),
  ),
  properties_provenance: Type.Optional(Provenance),
  scores: Type.Optional(ContactScores),
}

/** A whole contact. */
export const Contact = Type.Object(FIELDS, { title: 'Contact' })
/** A contact in the list of a segment's members. */
export const SegmentMember = Type.Object(
  {
    contact_id: ContactId,
    _id: FIELDS._id,
    properties: ContactProperties,
    company_id: FIELDS.company_id,
    segment_ids: FIELDS.segment_ids,
    created_at: Timestamp,
  },
  { title: 'SegmentMember' },
)
export type SegmentMember = Type.Static<typeof SegmentMember>
/** A contact with the requested fields. */
export const ProjectedContact = Type.Partial(Contact, { title: 'ListedContact' })

type ContactObject = Type.Static<typeof Contact>

const SUMMARY = ['properties', 'company_id', 'created_at', ...SUMMARY_PROPERTIES]
const ALWAYS_SHOWN = ['contact_id', '_id', 'properties_provenance', 'scores']
const BLOCKED = ['tenant_id', 'user_id', '__v', 'properties_provenance']

/** A parsed `fields` parameter. */
export type Projection = { kind: 'full' } | { kind: 'fields'; names: ReadonlySet<string> }

/** Reads a `fields` parameter: summary, full, or a comma-separated list of names. Blocked names are ignored. */
export function parseProjection(fields: string | undefined): Projection {
  if (fields === undefined || fields === 'full') return { kind: 'full' }
  const names = fields === 'summary' ? SUMMARY : fields.split(',').map((name) => name.trim())
  return { kind: 'fields', names: new Set(names.filter((name) => name !== '' && !BLOCKED.includes(name))) }
}

/** Whether the projection includes a top-level field, so that its data must be read. */
export function shows(projection: Projection, field: string): boolean {
  return projection.kind === 'full' || projection.names.has(field)
}

/** A contact with the segments that it belongs to. */
export type ContactRowInSegments = ContactRow & { segment_ids: string[] }

/** A whole contact as the API returns it. */
export function toContactObject(
  row: ContactRowInSegments,
  { notes, isCut }: RecentNotes,
  withProvenance: boolean,
): ContactObject {
  return {
    contact_id: row.contact_id,
    _id: row.contact_id,
    properties: propertiesOf(row),
    consent: consentOf(row.properties as Properties),
    associations: { companies: row.company_id === null ? [] : [row.company_id] },
    company_id: row.company_id,
    first_seen_at: row.first_seen_at.toISOString(),
    segment_ids: row.segment_ids,
    creation_source: row.creation_source,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    notes,
    ...(isCut ? { notes_truncated: true as const } : {}),
    ...(withProvenance ? { properties_provenance: row.properties_provenance as Type.Static<typeof Provenance> } : {}),
  }
}

/**
 * The version of a contact: what its writers set, and nothing that visitors, events or segments change.
 * @param computed the names of properties that the service computes
 */
export function etagOfContact(
  { properties, company_id }: Pick<ContactObject, 'properties' | 'company_id'>,
  computed: ReadonlySet<string>,
): string {
  const written = Object.entries(properties).filter(([key]) => !computed.has(key))
  // PostgreSQL returns keys in an order of its own, and a contact that was just written has them as they were sent.
  const sorted = written.sort(([a], [b]) => (a < b ? -1 : 1))
  return etagOf(sorted, company_id)
}

/** The same, from a contact's row. */
export function etagOfRow(row: ContactRow, computed: ReadonlySet<string>): string {
  return etagOfContact({ properties: propertiesOf(row), company_id: row.company_id }, computed)
}

/** A contact as the list of a segment's members shows it. */
export function toSegmentMember(row: ContactRowInSegments): SegmentMember {
  const properties = Object.entries(propertiesOf(row)).filter(([key]) => SUMMARY_PROPERTIES.includes(key))
  return {
    contact_id: row.contact_id,
    _id: row.contact_id,
    properties: Object.fromEntries(properties),
    company_id: row.company_id,
    segment_ids: row.segment_ids,
    created_at: row.created_at.toISOString(),
  }
}

/**
 * Applies a projection: top-level fields by name, properties by key inside `properties`. The ids are always included.
 */
export function project(contact: ContactObject, projection: Projection): Partial<ContactObject> {
  if (projection.kind === 'full') return contact
  const { names } = projection
  const kept = Object.entries(contact).filter(
    ([field]) =>
      ALWAYS_SHOWN.includes(field) || names.has(field) || (field === 'notes_truncated' && names.has('notes')),
  )
  const projected: Partial<ContactObject> = Object.fromEntries(kept)
  const keys = Object.keys(contact.properties).filter((key) => names.has(key))
  // `properties` alone means all of them; with keys (as in the summary), only those.
  const wholeProperties = names.has('properties') && ![...names].some((name) => !(name in FIELDS))
  if (!wholeProperties && (keys.length > 0 || names.has('properties'))) {
    projected.properties = Object.fromEntries(keys.map((key) => [key, contact.properties[key]])) as Properties
  }
  return projected
}
