import { isDeepStrictEqual } from 'node:util'
import { laterOf } from '../../platform/time.ts'
import { ruleBrokenBy, strictness } from '../consent.ts'
import type { Properties, PropertyValue } from '../properties.ts'
import type { SourceFields } from '../unified-profile.ts'
import type { Contents } from '../writing/contact-set.ts'
import { FIRST_TOUCH_KEYS, hasFirstTouch } from '../writing/first-touch-keys.ts'
import { mergedField } from '../writing/opt-outs.ts'
import { fieldOf, type SourceKind, type SourceRecord } from '../writing/source-records.ts'
import { mayReplace } from '../writing/source-trust.ts'

type Provenance = Record<string, { source: string; updated_at: string }>

/** A property with its source and time. */
interface SourcedValue {
  value: PropertyValue
  source: string
  updated_at: string
  kind: SourceKind
}

/**
 * Merges two contacts. The survivor keeps its email, external id, company and creation source, or gets the other's if
 * it has none. Of two values, the one wins that would have won in a single contact: see writing/source-trust.ts. A property
 * that stops outreach to either contact stops it to the survivor.
 */
export function mergedContent(survivor: Contents, other: Contents, now: Date): Contents {
  const [ours, theirs] = [survivor.row, other.row]
  const properties: [string, PropertyValue][] = []
  const provenance: [string, Provenance[string]][] = []
  for (const key of keysOf(ours.properties, theirs.properties)) {
    const winning = winner(key, survivor, other)
    if (winning === null) continue
    properties.push([key, winning.value])
    if (winning.source !== '') provenance.push([key, { source: winning.source, updated_at: winning.updated_at }])
  }
  const email = ours.email ?? theirs.email
  const { email: attribution } = (ours.email === null ? theirs : ours).properties_provenance as Provenance
  if (email !== null && attribution) provenance.push(['email', attribution])
  const identified = ours.external_id === null ? theirs : ours
  const row = {
    ...ours,
    email,
    external_id: identified.external_id,
    external_id_provisional: identified.external_id_provisional,
    properties: Object.fromEntries(properties),
    properties_provenance: Object.fromEntries(provenance),
    company_id: ours.company_id ?? theirs.company_id,
    first_seen_at: earlier(ours.first_seen_at, theirs.first_seen_at),
    enriched_at: laterOf(ours.enriched_at, theirs.enriched_at),
    updated_at: now,
  }
  return { row, records: mergedRecords(survivor.records, other.records, row.properties) }
}

function winner(key: string, survivor: Contents, other: Contents): SourcedValue | null {
  const [ours, theirs] = [sourcedValue(survivor, key), sourcedValue(other, key)]
  // The first touch was written together, so it is not mixed from two contacts.
  if (FIRST_TOUCH_KEYS.includes(key)) return sourcedValue(firstTouched(survivor, other), key)
  // A bounce does not replace what a person asked for.
  const [a, b] = [strictness(key, ours?.value), strictness(key, theirs?.value)]
  if (a + b > 0) return a >= b ? ours : theirs
  if (theirs === null) return ours
  if (ours === null || ours.value === '') return isRemovedSince(survivor, key, theirs) ? ours : theirs
  if (theirs.value === '' || !mayReplace(theirs.kind, ours.kind)) return ours
  return !mayReplace(ours.kind, theirs.kind) || theirs.updated_at > ours.updated_at ? theirs : ours
}

function sourcedValue({ row, records }: Contents, key: string): SourcedValue | null {
  const properties = row.properties as Properties
  const provenance = row.properties_provenance as Provenance
  const value = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (value === undefined) return null
  const { source, updated_at } = (Object.hasOwn(provenance, key) && provenance[key]) || { source: '', updated_at: '' }
  const kind = records.find((record) => record.source === source)?.kind ?? 'manual'
  return { value, source, updated_at, kind }
}

/** Whether the survivor's value was removed by hand after the other contact's was written. */
function isRemovedSince({ records }: Contents, key: string, { updated_at }: SourcedValue): boolean {
  const manual = records.find(({ kind }) => kind === 'manual')
  const removed = fieldOf(manual, key)
  return removed?.value === null && removed.updated_at > updated_at
}

function firstTouched(survivor: Contents, other: Contents): Contents {
  const [isOurs, isTheirs] = [survivor, other].map(({ row }) => hasFirstTouch(row.properties as Properties))
  if (!isOurs || !isTheirs) return isTheirs ? other : survivor
  return other.row.first_seen_at < survivor.row.first_seen_at ? other : survivor
}

function mergedRecords(
  ours: readonly SourceRecord[],
  theirs: readonly SourceRecord[],
  properties: Properties,
): SourceRecord[] {
  const merged = new Map(ours.map((record) => [record.source, record]))
  for (const record of theirs) {
    const own = merged.get(record.source)
    // A removal by hand on the other contact does not affect the survivor's value.
    const relevant = Object.entries(record.fields).filter(
      ([key, field]) => field.value !== null || !Object.hasOwn(properties, key),
    )
    const fields = Object.fromEntries(relevant)
    merged.set(record.source, own ? mergedRecord(own, { ...record, fields }) : { ...record, fields })
  }
  return [...merged.values()]
}

function mergedRecord(own: SourceRecord, other: SourceRecord): SourceRecord {
  const fields = new Map(Object.entries(own.fields))
  for (const [key, field] of Object.entries(other.fields)) {
    const known = fields.get(key)
    fields.set(key, known ? mergedField(key, { field: known, record: own }, { field, record: other }) : field)
  }
  const { raw, raw_bytes } = own.raw === null || other.updated_at > own.updated_at ? withRaw(other, own) : own
  return {
    ...own,
    external_id: own.external_id ?? other.external_id,
    fields: Object.fromEntries(fields),
    raw,
    raw_bytes,
    first_seen_at: earlier(own.first_seen_at, other.first_seen_at),
    updated_at: laterOf(own.updated_at, other.updated_at) ?? own.updated_at,
    synced_at: laterOf(own.synced_at, other.synced_at),
    enriched_at: laterOf(own.enriched_at, other.enriched_at),
  }
}

function withRaw(preferred: SourceRecord, otherwise: SourceRecord): SourceRecord {
  return preferred.raw === null ? otherwise : preferred
}

/** The survivor without the contact that was merged into it: changes of the merge are reverted; later changes stay. */
export function contentWithoutMerge(current: Contents, before: Contents, after: Contents, now: Date): Contents {
  const undone = <Key extends keyof Contents['row']>(key: Key) =>
    undo(current.row[key], before.row[key], after.row[key])
  const properties: [string, PropertyValue][] = []
  const provenance: [string, Provenance[string]][] = []
  const keys = keysOf(current.row.properties, before.row.properties)
  for (const key of keys) {
    const [now, was, became] = [sourcedValue(current, key), sourcedValue(before, key), sourcedValue(after, key)]
    const isAsMerged = isDeepStrictEqual(now, became) && !isConsentGivenSince(key, current, after)
    const left = isAsMerged ? was : now
    if (left === null) continue
    properties.push([key, left.value])
    if (left.source !== '') provenance.push([key, { source: left.source, updated_at: left.updated_at }])
  }
  const email = undone('email')
  const ofEmail = (content: Contents) => (content.row.properties_provenance as Provenance).email
  const attribution = undo(ofEmail(current), ofEmail(before), ofEmail(after))
  if (email !== null && attribution) provenance.push(['email', attribution])
  const row = {
    ...current.row,
    email,
    external_id: undone('external_id'),
    external_id_provisional: undone('external_id_provisional'),
    properties: Object.fromEntries(properties),
    properties_provenance: Object.fromEntries(provenance),
    company_id: undone('company_id'),
    first_seen_at: undone('first_seen_at'),
    enriched_at: undone('enriched_at'),
    updated_at: now,
  }
  return { row, records: current.records.flatMap((record) => recordWithoutMerge(record, before, after)) }
}

/** Unsubscribing while merged may repeat the merged value, but must not be reverted. */
function isConsentGivenSince(key: string, current: Contents, after: Contents): boolean {
  const consents = ({ records }: Contents) =>
    records.flatMap((record) => {
      const { value, updated_at = '' } = fieldOf(record, key) ?? {}
      return ruleBrokenBy(key, value) ? [`${record.source} ${updated_at}`] : []
    })
  const known = consents(after)
  return consents(current).some((consent) => !known.includes(consent))
}

function recordWithoutMerge(current: SourceRecord, before: Contents, after: Contents): SourceRecord[] {
  const bySource = ({ records }: Contents) => records.find(({ source }) => source === current.source)
  const [was, became] = [bySource(before), bySource(after)]
  if (!became) return [current]
  const fields: SourceFields = {}
  for (const key of keysOf(current.fields, was?.fields ?? {})) {
    const [now, fieldBefore, fieldAfter] = [current, was, became].map((record) => fieldOf(record, key))
    // A source that repeats a value has not written it.
    const left = isDeepStrictEqual(now?.value, fieldAfter?.value) ? fieldBefore : now
    if (left) fields[key] = left
  }
  const isRawAsMerged = isDeepStrictEqual(current.raw, became.raw)
  if (!was && Object.keys(fields).length === 0 && isRawAsMerged) return []
  const { raw, raw_bytes } = isRawAsMerged ? (was ?? { raw: null, raw_bytes: 0 }) : current
  const since = was ?? current
  return [
    {
      ...current,
      kind: undo(current.kind, since.kind, became.kind),
      external_id: undo(current.external_id, was?.external_id ?? null, became.external_id),
      fields,
      raw,
      raw_bytes,
      first_seen_at: undo(current.first_seen_at, since.first_seen_at, became.first_seen_at),
      updated_at: undo(current.updated_at, since.updated_at, became.updated_at),
      synced_at: undo(current.synced_at, since.synced_at, became.synced_at),
      enriched_at: undo(current.enriched_at, since.enriched_at, became.enriched_at),
    },
  ]
}

function undo<Value>(current: Value, before: Value, after: Value): Value {
  return isDeepStrictEqual(current, after) ? before : current
}

function keysOf(a: unknown, b: unknown): Set<string> {
  return new Set([...Object.keys(a as object), ...Object.keys(b as object)])
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b
}

/** A contact as stored with a merge: JSON, with dates as text. */
export function revived(stored: unknown): Contents {
  const { row, records } = stored as Contents
  const date = (value: Date) => new Date(value)
  const optional = (value: Date | null) => (value === null ? null : new Date(value))
  return {
    row: {
      ...row,
      first_seen_at: date(row.first_seen_at),
      created_at: date(row.created_at),
      updated_at: date(row.updated_at),
      enriched_at: optional(row.enriched_at),
    },
    records: records.map((record) => ({
      ...record,
      first_seen_at: date(record.first_seen_at),
      updated_at: date(record.updated_at),
      synced_at: optional(record.synced_at),
      enriched_at: optional(record.enriched_at),
    })),
  }
}
