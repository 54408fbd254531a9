import { isDeepStrictEqual } from 'node:util'
import type { ContactRow } from '../../contacts/contact-row.ts'
import type { Properties, PropertyValue } from '../../contacts/properties.ts'
import type { SourceFields } from '../../contacts/unified-profile.ts'
import type { Contents } from '../../contacts/writing/contact-set.ts'
import type { SourceRecord } from '../../contacts/writing/source-records.ts'
import { isObject } from '../../platform/is-object.ts'

/*
 * What a run changed in a contact, and how that is undone. Each part is stored as it was before and as the run left it. Undoing
 * restores the parts that are still as the run left them.
 */

/** A part of a contact; null where there was none. */
interface Change<Part> {
  before: Part | null
  after: Part | null
}
type Changes<Part> = Record<string, Change<Part>>

type Entry = { source: string; updated_at: string }
type Field = SourceFields[string]
/** The times of a source's record. */
type Times = { updated_at: string; enriched_at: string | null }

/** A change of the record of one source. */
interface RecordChange {
  fields: Changes<Field>
  /** The parts of its raw record, by their first key. */
  raw: Changes<unknown>
  times: Change<Times>
}

/** What one run changed in a contact. */
export interface ContactChange {
  /** A value belongs to its entry: another write of the same value has another time. */
  properties: Changes<{ value: PropertyValue; entry: Entry | null }>
  /** `company_id`, if it changed. */
  links: Changes<string>
  enrichedAt: Change<string>
  records: Record<string, RecordChange>
}

/** Compares a contact before and after it was enriched. */
export function changeOf(before: Contents, after: Contents): ContactChange {
  const sources = [...new Set([...before.records, ...after.records].map(({ source }) => source))]
  const records = sources.flatMap((source) => {
    const [from, to] = [recordOf(before, source), recordOf(after, source)]
    return from === to ? [] : [[source, recordChange(from, to)] as const]
  })
  return {
    properties: differences(propertiesOf(before.row), propertiesOf(after.row)),
    links: differences(linksOf(before.row), linksOf(after.row)),
    enrichedAt: { before: isoOf(before.row.enriched_at), after: isoOf(after.row.enriched_at) },
    records: Object.fromEntries(records),
  }
}

/** What two changes of a contact, one after the other, changed together. */
export function joined(first: ContactChange, second: ContactChange): ContactChange {
  const sources = [...new Set([...Object.keys(first.records), ...Object.keys(second.records)])]
  const records = sources.flatMap((source) => {
    const [one, other] = [first.records[source], second.records[source]]
    const record = one && other ? joinedRecords(one, other) : (one ?? other)
    return record ? [[source, record] as const] : []
  })
  return {
    properties: joinedParts(first.properties, second.properties),
    links: joinedParts(first.links, second.links),
    enrichedAt: { before: first.enrichedAt.before, after: second.enrichedAt.after },
    records: Object.fromEntries(records),
  }
}

function joinedRecords(first: RecordChange, second: RecordChange): RecordChange {
  return {
    fields: joinedParts(first.fields, second.fields),
    raw: joinedParts(first.raw, second.raw),
    times: { before: first.times.before, after: second.times.after },
  }
}

function joinedParts<Part>(first: Changes<Part>, second: Changes<Part>): Changes<Part> {
  const later = Object.entries(second).map(([key, { before, after }]) => {
    const earlier = Object.hasOwn(first, key) ? first[key] : undefined
    return [key, { before: earlier ? earlier.before : before, after }] as const
  })
  return { ...first, ...Object.fromEntries(later) }
}

/** A contact as it is without a change. */
export interface WithoutChange extends Contents {
  /** Properties that were restored. */
  restored: string[]
  /** What was changed since the change, and stays: properties, and `company_id`. */
  kept: string[]
}

/** Takes back a change, without touching the database. */
export function withoutChange(current: Contents, change: ContactChange, now: Date): WithoutChange {
  const values = propertiesOf(current.row)
  const { restored, kept } = restore(values, change.properties)
  const links = linksOf(current.row)
  const ofLinks = restore(links, change.links)
  const isEnrichedSince = isoOf(current.row.enriched_at) !== change.enrichedAt.after
  const row: ContactRow = {
    ...current.row,
    properties: Object.fromEntries([...values].map(([key, { value }]) => [key, value])),
    properties_provenance: Object.fromEntries(
      [...values].flatMap(([key, { entry }]) => (entry === null ? [] : [[key, entry]])).concat(emailEntry(current.row)),
    ),
    company_id: links.get('company_id') ?? null,
    enriched_at: isEnrichedSince ? current.row.enriched_at : dateOf(change.enrichedAt.before),
    ...(restored.length + ofLinks.restored.length > 0 ? { updated_at: now } : {}),
  }
  const records = current.records.flatMap((record) => {
    const ofSource = change.records[record.source]
    const before = ofSource ? recordBefore(record, ofSource) : record
    return before === null ? [] : [before]
  })
  return { row, records, restored, kept: [...kept, ...ofLinks.kept] }
}

function recordChange(from: SourceRecord | undefined, to: SourceRecord | undefined): RecordChange {
  return {
    fields: differences(new Map(Object.entries(from?.fields ?? {})), new Map(Object.entries(to?.fields ?? {}))),
    raw: differences(rawOf(from), rawOf(to)),
    times: { before: timesOf(from), after: timesOf(to) },
  }
}

/** A record as it was before; null if there was none and nothing has been added since. */
function recordBefore(current: SourceRecord, { fields, raw, times }: RecordChange): SourceRecord | null {
  const [fieldsNow, rawNow] = [new Map(Object.entries(current.fields)), rawOf(current)]
  restore(fieldsNow, fields)
  restore(rawNow, raw)
  const isLatest = isDeepStrictEqual(timesOf(current), times.after)
  if (times.before === null && isLatest && fieldsNow.size + rawNow.size === 0) return null
  const parts = rawNow.size === 0 && times.before === null ? null : Object.fromEntries(rawNow)
  return {
    ...current,
    fields: Object.fromEntries(fieldsNow),
    raw: parts,
    raw_bytes: parts === null ? 0 : Buffer.byteLength(JSON.stringify(parts)),
    ...(isLatest && times.before !== null
      ? { updated_at: new Date(times.before.updated_at), enriched_at: dateOf(times.before.enriched_at) }
      : {}),
  }
}

/** The parts that differ. */
function differences<Part>(before: ReadonlyMap<string, Part>, after: ReadonlyMap<string, Part>): Changes<Part> {
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  const changed = keys.filter((key) => !isDeepStrictEqual(before.get(key), after.get(key)))
  return Object.fromEntries(
    changed.map((key) => [key, { before: before.get(key) ?? null, after: after.get(key) ?? null }]),
  )
}

/** Restores the parts that nobody has changed since. @returns their keys, and those of parts that stay as they are now. */
function restore<Part>(parts: Map<string, Part>, changes: Changes<Part>): { restored: string[]; kept: string[] } {
  const restored: string[] = []
  const kept: string[] = []
  for (const [key, { before, after }] of Object.entries(changes)) {
    const current = parts.get(key) ?? null
    if (isDeepStrictEqual(current, before)) continue
    if (!isDeepStrictEqual(current, after)) {
      kept.push(key)
      continue
    }
    restored.push(key)
    if (before === null) parts.delete(key)
    else parts.set(key, before)
  }
  return { restored, kept }
}

function propertiesOf({ properties, properties_provenance }: ContactRow) {
  const provenance = new Map(Object.entries(properties_provenance as Record<string, Entry>))
  const entries = Object.entries(properties as Properties)
  return new Map(entries.map(([key, value]) => [key, { value, entry: provenance.get(key) ?? null }]))
}

/** The provenance of the email, which is no property. */
function emailEntry({ properties_provenance }: ContactRow): [string, Entry][] {
  const { email } = properties_provenance as Record<string, Entry>
  return email === undefined ? [] : [['email', email]]
}

function recordOf({ records }: Contents, source: string): SourceRecord | undefined {
  return records.find((record) => record.source === source)
}

function rawOf(record: SourceRecord | undefined): Map<string, unknown> {
  return new Map(isObject(record?.raw) ? Object.entries(record.raw) : [])
}

function timesOf(record: SourceRecord | undefined): Times | null {
  if (!record) return null
  return { updated_at: record.updated_at.toISOString(), enriched_at: isoOf(record.enriched_at) }
}

function linksOf({ company_id }: ContactRow): Map<string, string> {
  return new Map(company_id === null ? [] : [['company_id', company_id]])
}

function isoOf(date: Date | null): string | null {
  return date?.toISOString() ?? null
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}
